/** Makes the cast in a cluster. */
import type { ManifestObject, Sandbox } from '../../../sandbox/index.ts';
import { readPod } from '../../e2e/support/cluster/cluster.ts';
import { CAST } from './cast.ts';
import { SERVICES, serviceManifests } from './cast-services.ts';
import { readWorlds } from './read-world.ts';
import type { World } from './world.ts';

export const setUp = async (sandbox: Sandbox): Promise<readonly [World, World]> => {
  await apply(sandbox, CAST);
  const manifests = await Promise.all(
    SERVICES.map(async (service) => {
      const role = service.isLocked ? 'infrastructure-locked' : 'primary';
      const endpoints = service.names.map(async (pod) => {
        const { attachments } = await readPod(sandbox, pod);
        return { pod, addresses: attachments.find((one) => one.role === role)?.addresses ?? [] };
      });
      return serviceManifests(service, await Promise.all(endpoints));
    }),
  );
  await apply(sandbox, manifests.flat());
  return await readWorlds(sandbox);
};

/** Longer than `applyAndWait` does: so many pods at the same time take long on a machine that does other things. */
const PATIENCE = { timeoutSeconds: 180 };

const apply = async (sandbox: Sandbox, manifests: readonly ManifestObject[]): Promise<void> => {
  const objects = await sandbox.objects();
  await objects.apply(manifests);
  const pods = manifests.filter(({ kind }) => kind === 'Pod');
  await Promise.all(
    pods.map(({ metadata: { namespace, name } }) => objects.wait('Pod', `${namespace}/${name}`, 'ready', PATIENCE)),
  );
};

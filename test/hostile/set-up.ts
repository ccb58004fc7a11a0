/** Makes the cast in a cluster. */
import type { ManifestObject, Sandbox } from '../../sandbox/index.ts';
import { readPod } from '../e2e/support/cluster.ts';
import { CAST, SERVICES, serviceManifests } from './cast.ts';
import { readWorld } from './read-world.ts';
import type { World } from './world.ts';

export const setUp = async (sandbox: Sandbox): Promise<World> => {
  await apply(sandbox, CAST);
  const manifests = await Promise.all(
    SERVICES.map(async (service) => {
      const pod = await readPod(sandbox, service.names);
      const role = service.isLocked ? 'infrastructure-locked' : 'primary';
      return serviceManifests(service, pod.attachments.find((one) => one.role === role)?.addresses ?? []);
    }),
  );
  await apply(sandbox, manifests.flat());
  return await readWorld(sandbox);
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

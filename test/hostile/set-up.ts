/** Makes the cast in a cluster. */
import type { Sandbox } from '../../sandbox/index.ts';
import { applyAndWait, readPod } from '../e2e/support/cluster.ts';
import { CAST, SERVICES, serviceManifests } from './cast.ts';
import { readWorld } from './read-world.ts';
import type { World } from './world.ts';

export const setUp = async (sandbox: Sandbox): Promise<World> => {
  await applyAndWait(sandbox, CAST);
  const manifests = await Promise.all(
    SERVICES.map(async (service) => {
      const pod = await readPod(sandbox, service.names);
      const role = service.isLocked ? 'infrastructure-locked' : 'primary';
      return serviceManifests(service, pod.attachments.find((one) => one.role === role)?.addresses ?? []);
    }),
  );
  await applyAndWait(sandbox, manifests.flat());
  return await readWorld(sandbox);
};

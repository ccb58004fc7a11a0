import { expect, it, onTestFinished } from 'vitest';
import { createEmbeddedCluster } from '../../kube/embedded/cluster.ts';
import { KubeError } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/types.ts';
import { createMirrors } from './caches.ts';

it('names what cannot be read, and why, until everything has been', async () => {
  const client = createEmbeddedCluster().client();
  const forbidden = new KubeError('ERR_KUBE_STATUS', 'list pods: pods is forbidden', { status: 403 });
  const refused = Promise.withResolvers<void>();
  const list: KubeClient['list'] = (resource, ...rest) =>
    resource.plural === 'pods' ? Promise.reject(forbidden) : client.list(resource, ...rest);
  const mirrors = createMirrors({ ...client, list }, ({ resource, kind }) => {
    if (resource === 'pods' && kind === 'failed') refused.resolve();
  });
  expect(mirrors.unread()).toContain('nodes are not synced yet');
  const end = new AbortController();
  const running = mirrors.run(end.signal);
  onTestFinished(async () => {
    end.abort();
    await running;
  });
  await Promise.all([refused.promise, mirrors.caches.nodes.whenSynced(end.signal)]);
  const unread = mirrors.unread();
  expect(unread).toContain('pods are not synced yet: list pods: pods is forbidden');
  expect(unread.join()).not.toContain('nodes');
});

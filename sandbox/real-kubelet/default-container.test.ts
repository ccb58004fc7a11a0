import { expect, it } from 'vitest';
import { KubeError } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/types.ts';
import { defaultContainer } from './default-container.ts';

const TARGET = { namespace: 'red', pod: 'web' };
const answering = (pod: unknown) => ({ get: () => Promise.resolve(pod as KubeObject) });
const pod = (annotations?: Readonly<Record<string, string>>) => ({
  metadata: { name: 'web', ...(annotations && { annotations }) },
  spec: { containers: [{ name: 'main' }, { name: 'side' }] },
});

it('is the first of the specification, or the one that the pod names', async () => {
  expect(await defaultContainer(answering(pod()), TARGET)).toBe('main');
  const annotations = { 'kubectl.kubernetes.io/default-container': 'side' };
  expect(await defaultContainer(answering(pod(annotations)), TARGET)).toBe('side');
});

it('is not known where nobody answers', async () => {
  const get = () => Promise.reject(new KubeError('ERR_KUBE_NETWORK', 'connection refused'));
  expect(await defaultContainer({ get }, TARGET)).toBeUndefined();
  expect(await defaultContainer(answering({ metadata: {}, spec: { containers: [] } }), TARGET)).toBeUndefined();
});

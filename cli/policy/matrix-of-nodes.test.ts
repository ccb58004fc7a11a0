import { expect, it } from 'vitest';
import { KubeError } from '../../kube/errors.ts';
import type { NodeTools } from '../remote/node-tools.ts';
import { matrixOfNodes } from './matrix-of-nodes.ts';
import { matrixOutput } from './matrix-output.ts';

/** Of an API server with these pods, none of which has a node. @param status of its answer about the namespace */
const ask = async (pods: readonly string[], status = 200) => {
  const object = (kind: string, name: string) => ({
    ...{ apiVersion: 'v1', kind, metadata: { name, uid: name, resourceVersion: '1' }, spec: {} },
  });
  const unasked = (): never => expect.fail('no node is asked');
  const tools: NodeTools = {
    ...{ namespace: 'ovn-udn', exec: { run: unasked }, readLog: unasked },
    client: {
      list: async () => ({ items: pods.map((name) => object('Pod', name)), resourceVersion: '1' }),
      get: async () => {
        if (status !== 200) throw new KubeError('ERR_KUBE_STATUS', 'no', { status });
        return object('Namespace', 'red');
      },
    },
  };
  const { lines, exitStatus } = matrixOutput((await matrixOfNodes(tools, 'red')).matrix);
  return [exitStatus, ...lines];
};

it('has no pods of an empty namespace, nor of one that cannot be looked at', async () => {
  expect(await ask([])).toEqual([0, 'no pods']);
  expect(await ask([], 403)).toEqual([0, 'no pods']);
});

it('refuses a namespace that is not there', async () => {
  await expect(ask([], 404)).rejects.toThrow('there is no namespace red');
  await expect(ask([], 500)).rejects.toThrow(KubeError);
});

it('does not know what policies make of pods without a node', async () => {
  expect(await ask(['a', 'b'])).toEqual([2, '? no pod of namespace red has a node yet']);
});

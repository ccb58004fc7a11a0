import { describe, expect, it } from 'vitest';
import { KubeError } from '../../kube/errors.ts';
import type { KubeObject, ListOptions } from '../../kube/types.ts';
import { findAgentPod, type NodeTools, nodeOfPod, runInAgentPod } from './node-tools.ts';

const AGENT: KubeObject = {
  metadata: { name: 'udn-agent-x', uid: 'u', resourceVersion: '1', namespace: 'ovn-udn' },
  spec: { nodeName: 'node-1' },
  status: { phase: 'Running', containerStatuses: [{ name: 'udn-agent', ready: true, state: { running: {} } }] },
};
const refused = (status: number, message: string) => new KubeError('ERR_KUBE_STATUS', message, { status });

/** @param failure what the API server answers to everything */
const tools = (pods: readonly KubeObject[], failure?: KubeError): NodeTools & { readonly asked: ListOptions[] } => {
  const asked: ListOptions[] = [];
  return {
    asked,
    namespace: 'ovn-udn',
    client: {
      list: async (_, options = {}) => {
        if (failure !== undefined) throw failure;
        asked.push(options);
        const node = options.fieldSelector?.replace('spec.nodeName=', '');
        const items = pods.filter(
          ({ spec }) => node === undefined || (spec as { nodeName?: string }).nodeName === node,
        );
        return { items, resourceVersion: '1' };
      },
      get: async () => {
        const [pod] = pods;
        if (failure !== undefined || pod === undefined) throw failure ?? refused(404, 'not found');
        return pod;
      },
    },
    exec: {
      run: async () => {
        if (failure !== undefined) throw failure;
        return 3;
      },
    },
    readLog: async () => '',
  };
};

const OUTPUT = { stdout: () => undefined, stderr: () => undefined };
const FORBIDDEN = refused(403, 'pods is forbidden: user "dev" cannot');

describe('the pod of a node', () => {
  it('is asked for by its label, on that node only', async () => {
    const server = tools([AGENT]);
    expect(await findAgentPod(server, 'node-1')).toEqual({ name: 'udn-agent-x' });
    expect(server.asked).toMatchObject([
      {
        namespace: 'ovn-udn',
        labelSelector: 'app.kubernetes.io/name=udn-agent',
        fieldSelector: 'spec.nodeName=node-1',
      },
    ]);
  });

  it('of a node without one: the others are named', async () => {
    await expect(findAgentPod(tools([AGENT]), 'node-7')).rejects.toMatchObject({
      message: 'no pod of udn-agent is on node node-7; agents are on node-1',
      exitStatus: 2,
    });
  });

  it('for who may not look for it: the right is named', async () => {
    await expect(findAgentPod(tools([AGENT], FORBIDDEN), 'node-1')).rejects.toThrow(
      /dev" cannot; udnctl needs the verbs get and list on pods in namespace ovn-udn: bind the Role ovn-udn-node-tools/,
    );
  });
});

describe('a command there', () => {
  const run = (failure?: KubeError) => runInAgentPod(tools([], failure), { name: 'udn-agent-x' }, ['/udnctl'], OUTPUT);

  it('has its own exit status', async () => expect(await run()).toBe(3));

  it.each([
    [FORBIDDEN, /needs the verbs get and create on pods\/exec in namespace ovn-udn/],
    [refused(404, 'not found'), /pod udn-agent-x was deleted/],
    [refused(500, 'no such file'), /\/udnctl cannot be run: no such file/],
    [
      new KubeError('ERR_KUBE_NETWORK', 'exec: closed'),
      /^pod udn-agent-x cannot be reached: exec: closed; udnctl status/,
    ],
    [refused(500, 'error dialing backend: i/o timeout'), /^pod udn-agent-x cannot be reached: error dialing backend/],
  ])('that cannot be run: %o', async (failure, message) => {
    await expect(run(failure)).rejects.toMatchObject({ exitStatus: 2, message: expect.stringMatching(message) });
  });
});

describe('the node of a pod', () => {
  it('is what the pod says', async () => expect(await nodeOfPod(tools([AGENT]), 'red/a')).toBe('node-1'));

  it.each([
    ['red', [AGENT], undefined, /a pod is NAMESPACE\/NAME, not "red"/],
    ['red/a', [], undefined, /there is no pod red\/a/],
    ['red/a', [{ ...AGENT, spec: {} }], undefined, /pod red\/a has no node yet: udnctl why red\/a/],
    ['red/a', [AGENT], FORBIDDEN, /the node of pod red\/a is unknown: .*; --node names it/],
  ])('%s: why it is not known', async (key, pods, failure, message) => {
    await expect(nodeOfPod(tools(pods, failure), key)).rejects.toThrow(message);
  });
});

import { describe, expect, it } from 'vitest';
import { onAbort } from '../../base/abort.ts';
import { KubeError } from '../../kube/errors.ts';
import type { ExecCommand, ExecOutput } from '../../kube/exec/types.ts';
import type { KubeClient, KubeObject, ListOptions } from '../../kube/types.ts';
import { askNode } from './ask-node.ts';
import type { Question } from './question.ts';

const TRACE: Question = { kind: 'trace', from: 'red/a', to: '10.0.0.1' };
const FOREVER = new AbortController().signal;
const meta = { uid: 'u', resourceVersion: '1' };
const POD: KubeObject = { metadata: { ...meta, namespace: 'red', name: 'a' }, spec: { nodeName: 'n1' } };
const AGENT: KubeObject = {
  metadata: { ...meta, name: 'udn-agent-x' },
  spec: { nodeName: 'n1' },
  status: { phase: 'Running', containerStatuses: [{ name: 'udn-agent', ready: true, state: { running: {} } }] },
};

type Run = (command: ExecCommand, output: ExecOutput, signal?: AbortSignal) => Promise<number>;

const tools = (run: Run, agents: readonly KubeObject[] = [AGENT]) => ({
  client: {
    get: () => Promise.resolve(POD),
    list: (_: unknown, { fieldSelector }: ListOptions = {}) =>
      Promise.resolve({ items: fieldSelector === undefined ? [] : agents, resourceVersion: '1' }),
  },
  exec: { run },
  readLog: () => Promise.resolve(''),
  namespace: 'ovn-udn',
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const forbidden = () => Promise.reject(new KubeError('ERR_KUBE_STATUS', 'pods/exec is forbidden', { status: 403 }));

describe('a question to a node', () => {
  it('runs udnctl in the pod of its agent, and has what it wrote, errors too', async () => {
    const commands: ExecCommand[] = [];
    const answer = await askNode(
      tools((command, { stdout, stderr }) => {
        commands.push(command);
        stdout(bytes('delivered\n'));
        stderr(bytes('udnctl: a note\n'));
        return Promise.resolve(1);
      }),
      TRACE,
      FOREVER,
    );
    expect(answer).toEqual({ exitStatus: 1, node: 'n1', text: 'delivered\nudnctl: a note\n' });
    expect(commands).toEqual([
      {
        ...{ namespace: 'ovn-udn', pod: 'udn-agent-x', container: 'udn-agent' },
        command: ['/opt/ovn-udn/bin/udnctl', 'trace', '--from=pod', '--from=red/a', '--to=10.0.0.1'],
      },
    ]);
  });

  it('that may not be asked says which right is missing', async () => {
    const answer = await askNode(tools(forbidden), TRACE, FOREVER);
    expect(answer.exitStatus).toBeUndefined();
    expect(answer.text).toMatch(/forbidden.*pods\/exec.*Role ovn-udn-node-tools/);
  });

  it('without an agent says so', async () => {
    const answer = await askNode(
      tools(() => Promise.resolve(0), []),
      TRACE,
      FOREVER,
    );
    expect(answer).toMatchObject({ node: 'n1', text: expect.stringMatching(/^no pod of udn-agent is on node n1/) });
  });

  it('that takes too long ends with the reason', async () => {
    const signal = AbortSignal.abort(new Error('the page was closed'));
    const run: Run = (_, __, asked) => Promise.reject(asked?.reason);
    expect(await askNode(tools(run), TRACE, signal)).toEqual({ node: 'n1', text: 'no answer: the page was closed' });
  });

  it.each(['the pod', 'the pods of the agents'])('that takes too long before %s is read ends, too', async (what) => {
    const asking = new AbortController();
    const ended = (signal?: AbortSignal): Promise<never> =>
      new Promise((_, reject) => {
        onAbort(signal, () => reject(signal?.reason));
        asking.abort(new Error('the page was closed'));
      });
    const known = tools(() => Promise.resolve(0));
    const client = {
      get: (...[, , signal]: Parameters<KubeClient['get']>) =>
        what === 'the pod' ? ended(signal) : known.client.get(),
      list: (...[, , signal]: Parameters<KubeClient['list']>) => ended(signal),
    };
    const { text } = await askNode({ ...known, client }, TRACE, asking.signal);
    expect(text).toBe('no answer: the page was closed');
  });

  it('is cut where nobody reads on, and says how long it was', async () => {
    const chunk = bytes('x'.repeat(100_000));
    const run: Run = (_, { stdout }) => {
      for (let count = 0; count < 50; count += 1) stdout(chunk);
      return Promise.resolve(0);
    };
    const { text } = await askNode(tools(run), TRACE, FOREVER);
    expect(text.length).toBeLessThan(270_000);
    expect(text).toMatch(/5000000 bytes in all: run the command in a terminal$/);
  });

  it('hides no fault of its own', async () => {
    await expect(
      askNode(
        tools(() => Promise.reject(new TypeError('x'))),
        TRACE,
        FOREVER,
      ),
    ).rejects.toThrow(TypeError);
  });
});

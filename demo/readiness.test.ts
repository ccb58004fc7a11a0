import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../kube/types.ts';
import { SandboxError } from '../sandbox/errors.ts';
import type { ManifestObject, Objects, Sandbox } from '../sandbox/index.ts';
import { waitUntilReady } from './readiness.ts';

const object = (kind: string, name: string, namespace?: string): ManifestObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
});

const NETWORK = object('UserDefinedNetwork', 'net', 'red');
const POD = object('Pod', 'a', 'red');
const OTHER = object('Pod', 'b', 'red');

const event = (kind: string, name: string, reason: string, message: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: `${name}.1`, namespace: 'red', uid: 'uid', resourceVersion: '1' },
  ...{ involvedObject: { kind, name, namespace: 'red' }, reason, message },
});

interface World {
  /** By `kind namespace/name`: why it does not get ready. */
  readonly stuck?: Readonly<Record<string, string>>;
  readonly events?: readonly KubeObject[];
  /** By path; undefined: it does not answer. */
  readonly agent?: Readonly<Record<string, unknown>> | undefined;
}

/** A cluster of one node. */
const worldOf = ({ stuck = {}, events = [], agent }: World) => {
  const waited: string[] = [];
  const objects: Pick<Objects, 'wait' | 'list'> = {
    wait: async (kind, name, condition) => {
      waited.push(`${kind} ${name} ${condition}`);
      const why = stuck[`${kind} ${name}`];
      if (why !== undefined) throw new SandboxError('ERR_SANDBOX_TIMEOUT', `${kind} ${name}: ${why}`);
    },
    list: async () => events,
  };
  const sandbox: Pick<Sandbox, 'objects' | 'node' | 'status'> = {
    objects: async () => objects as Objects,
    status: async () => ({ nodes: [{ name: 'node-1' }] }) as unknown as Awaited<ReturnType<Sandbox['status']>>,
    node: async (_, argv) => {
      if (agent === undefined) throw new Error('no such socket');
      const path = argv.at(-1)?.split('/').at(-1) ?? '';
      return { stdout: JSON.stringify(agent[path] ?? []), stderr: '' };
    },
  };
  return { sandbox, waited };
};

const wait = (world: World, manifests: readonly ManifestObject[]) => {
  const { sandbox, waited } = worldOf(world);
  const ready: string[] = [];
  const done = waitUntilReady(sandbox, manifests, 5, ({ metadata }) => ready.push(metadata.name ?? ''));
  return { done, ready, waited };
};

describe('waitUntilReady', () => {
  it('waits for what each kind says of itself, and for nothing of the others', async () => {
    const { done, ready, waited } = wait({}, [object('Namespace', 'red'), NETWORK, POD]);
    await done;
    expect(ready.sort()).toEqual(['a', 'net']);
    expect(waited.sort()).toEqual([
      'Pod red/a condition=Ready',
      'UserDefinedNetwork red/net condition=NetworkAllocationSucceeded',
      'UserDefinedNetwork red/net condition=NetworkCreated',
    ]);
  });

  it('says which objects are stuck and why: conditions, events, and what the agents say, networks first', async () => {
    const world: World = {
      stuck: { 'UserDefinedNetwork red/net': 'NetworkCreated=False (SyncError: no room)', 'Pod red/a': 'Pending' },
      events: [
        event('Pod', 'a', 'FailedCreatePodSandBox', 'no address'),
        event('Pod', 'b', 'Started', 'another pod'),
        event('Service', 'a', 'Other', 'another kind'),
      ],
      agent: {
        problems: [{ object: 'network red_net', severity: 'error', message: 'it has no subnet' }],
        pods: [
          { namespace: 'red', name: 'a', uid: '1', attachments: [], state: 'pending', message: 'waits for an address' },
          { namespace: 'red', name: 'b', uid: '2', attachments: [], state: 'ready' },
        ],
      },
    };
    const { done, ready } = wait(world, [POD, OTHER, NETWORK]);
    await expect(done).rejects.toMatchObject({
      code: 'ERR_DEMO_NOT_READY',
      message: '2 objects are not ready',
      details: [
        'UserDefinedNetwork red/net: NetworkCreated=False (SyncError: no room)',
        'Pod red/a: Pending',
        '  event FailedCreatePodSandBox: no address',
        'the agent of node-1: error: network red_net: it has no subnet',
        'the agent of node-1: pod red/a is pending: waits for an address',
      ],
    });
    expect(ready).toEqual(['b']);
  });

  it('says also that an agent does not answer', async () => {
    const { done } = wait({ stuck: { 'Pod red/a': 'Pending' } }, [POD]);
    await expect(done).rejects.toMatchObject({
      message: 'an object is not ready',
      details: ['Pod red/a: Pending', 'the agent of node-1 does not answer: no such socket'],
    });
  });
});

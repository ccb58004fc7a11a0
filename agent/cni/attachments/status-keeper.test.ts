import { describe, expect, it } from 'vitest';
import type { AttachedNetwork } from '../../../api/annotations/attached-networks.ts';
import { createFakeClock } from '../../../base/testing/fake-clock.ts';
import { KubeError } from '../../../kube/errors.ts';
import { createStaticCache } from '../../../kube/reflector/static-cache.ts';
import type { KubeObject } from '../../../kube/types.ts';
import type { PodProjection } from '../../inputs/pod-projection.ts';
import { TestCluster } from '../../testing/cluster.ts';
import { FakePorts } from '../../testing/fake-ports.ts';
import { plumbingOf } from '../plumbing.ts';
import { AttachmentRegistry } from './registry.ts';
import { StatusKeeper } from './status-keeper.ts';

interface Write {
  readonly pod: string;
  readonly uid: string;
  readonly text: string;
  readonly settle: (error?: unknown) => Promise<void>;
}

type Mirrored = Pick<PodProjection, 'fact' | 'networkStatus'>;

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const setUp = () => {
  const cluster = new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/16'] } })
    .namespace('ns');
  const registry = new AttachmentRegistry();
  const ports = new FakePorts();
  const clock = createFakeClock();
  const pods = createStaticCache<Mirrored>();
  const writes: Write[] = [];
  const problems: string[] = [];
  const results: string[] = [];
  const records = new Map<string, readonly AttachedNetwork[] | Error>();
  const recorded = (sandbox: string): Promise<readonly AttachedNetwork[]> => {
    const record = records.get(sandbox) ?? [];
    return record instanceof Error ? Promise.reject(record) : Promise.resolve(record);
  };
  const start = (): StatusKeeper =>
    new StatusKeeper({
      ...{ registry, ports, pods, clock, random: () => 1 },
      recorded: (sandbox) => recorded(sandbox),
      onProblem: ({ name, uid }, message) => problems.push(`${name} ${uid}: ${message}`),
      observe: (result) => results.push(result),
      writer: {
        merge: (_, { namespace, name }, patch) => {
          const { promise, resolve, reject } = Promise.withResolvers<KubeObject>();
          const { uid, annotations } = patch['metadata'] as { uid: string; annotations: Record<string, string> };
          const [[annotation, text = ''] = []] = Object.entries(annotations);
          expect(annotation).toBe('k8s.v1.cni.cncf.io/network-status');
          const settle = (error?: unknown): Promise<void> => {
            if (error === undefined) resolve({} as KubeObject);
            else reject(error);
            return settled();
          };
          writes.push({ pod: `${namespace}/${name}`, uid, text, settle });
          return promise;
        },
      },
    });
  /** A pod with its port. */
  const plug = async (name: string, { uid = `uid-${name}`, ip = '10.128.0.3' } = {}) => {
    const sandbox = `${uid}-sandbox`;
    const key = `ns/${name}`;
    cluster.pod(key, { node: 'node1', uid, networks: { default: { ips: [`${ip}/16`], role: 'primary' } } });
    cluster.engine.flush();
    const owner = `attachments:${key}`;
    const attachments = cluster.sinks.attachments.get(owner)!;
    registry.set(owner, attachments);
    await ports.plug(plumbingOf(attachments, { id: sandbox, netns: '/x' }, { txChecksum: true }).ports);
    return { pod: attachments.pod, sandbox };
  };
  /** What the mirror has. */
  const mirror = (name: string, networkStatus: string | undefined): void => {
    const fact = cluster.facts.get('pod', `ns/${name}`)!;
    pods.set(`ns/${name}`, { fact, networkStatus });
  };
  return { registry, ports, clock, writes, problems, results, records, start, plug, mirror };
};

describe('network-status', () => {
  it('is written once after an ADD, for the very pod', async () => {
    const { start, plug, mirror, writes, results } = setUp();
    const keeper = start();
    const { pod, sandbox } = await plug('a');
    mirror('a', undefined);
    expect(writes).toEqual([]);
    keeper.attached(pod, sandbox, []);
    expect(writes).toMatchObject([{ pod: 'ns/a', uid: 'uid-a' }]);
    const text = writes[0]?.text ?? '';
    expect(JSON.parse(text)).toMatchObject([{ name: 'ovn-kubernetes', interface: 'eth0', ips: ['10.128.0.3'] }]);
    mirror('a', text);
    await writes[0]?.settle();
    mirror('a', text);
    expect([writes.length, results]).toEqual([1, ['written']]);
  });

  it('of pods that have the right one is not written at a start, of others it is', async () => {
    const { start, plug, mirror, writes, clock } = setUp();
    const before = start();
    for (let index = 0; index < 500; index += 1) {
      const { pod, sandbox } = await plug(`p${index}`, { ip: `10.128.1.${index % 250}` });
      before.attached(pod, sandbox, []);
    }
    for (let index = 0; index < writes.length; index += 1) {
      mirror(`p${index}`, writes[index]?.text);
      await writes[index]?.settle();
    }
    expect(writes).toHaveLength(500);
    before.stop();
    await start().adopt();
    expect(writes).toHaveLength(500);
    mirror('p7', undefined);
    mirror('p8', '[]');
    expect(writes.slice(500).map(({ pod }) => pod)).toEqual(['ns/p7', 'ns/p8']);
    expect(clock.monotonic()).toBe(0);
  });

  it('is mended when somebody changes it, soon, but not again and again', async () => {
    const { start, plug, mirror, writes, clock } = setUp();
    const keeper = start();
    const { pod, sandbox } = await plug('a');
    mirror('a', undefined);
    keeper.attached(pod, sandbox, []);
    await writes[0]?.settle();
    mirror('a', '[]');
    mirror('a', undefined);
    expect(writes).toHaveLength(1);
    await clock.advance(5_000);
    expect(writes).toHaveLength(2);
    expect(writes[1]?.text).toBe(writes[0]?.text);
  });

  it('that somebody changed while it was written is not taken for written', async () => {
    const { start, plug, mirror, writes, clock } = setUp();
    const keeper = start();
    const { pod, sandbox } = await plug('a');
    mirror('a', undefined);
    keeper.attached(pod, sandbox, []);
    mirror('a', writes[0]?.text);
    mirror('a', '[]');
    await writes[0]?.settle();
    await clock.advance(5_000);
    expect(writes).toHaveLength(2);
  });

  it('of a pod is not that of the next one of its name', async () => {
    const { start, plug, mirror, writes, problems, clock } = setUp();
    const keeper = start();
    const first = await plug('a', { uid: 'first' });
    mirror('a', undefined);
    keeper.attached(first.pod, first.sandbox, []);
    const second = await plug('a', { uid: 'second', ip: '10.128.0.9' });
    mirror('a', undefined);
    await writes[0]?.settle(new KubeError('ERR_KUBE_REPLACED', 'ns/a is another object now'));
    await clock.advance(600_000);
    expect(writes.map(({ uid }) => uid)).toEqual(['first']);
    keeper.attached(second.pod, second.sandbox, []);
    // The DEL of the first one may come late.
    keeper.detached(first.sandbox);
    expect(writes.map(({ uid }) => uid)).toEqual(['first', 'second']);
    expect(writes[1]?.text).toContain('10.128.0.9');
    expect(problems).toEqual([]);
  });

  it('is left alone once the interfaces go', async () => {
    const { start, plug, mirror, writes, clock } = setUp();
    const keeper = start();
    const { pod, sandbox } = await plug('a');
    mirror('a', undefined);
    keeper.attached(pod, sandbox, []);
    await writes[0]?.settle();
    keeper.detached(sandbox);
    mirror('a', '[]');
    await clock.advance(600_000);
    expect(writes).toHaveLength(1);
  });

  it('that the server refuses is reported, and tried again less and less often', async () => {
    const { start, plug, mirror, writes, problems, results, clock } = setUp();
    const keeper = start();
    const { pod, sandbox } = await plug('a');
    mirror('a', undefined);
    keeper.attached(pod, sandbox, []);
    const message = 'k8s.v1.cni.cncf.io/network-status cannot be written: denied by a webhook';
    for (const wait of [5_000, 10_000]) {
      await writes.at(-1)?.settle(new Error('denied by a webhook'));
      expect([...keeper.unwritten()]).toEqual([['ns/a', message]]);
      const count = writes.length;
      await clock.advance(wait - 1);
      expect(writes).toHaveLength(count);
      await clock.advance(1);
      expect(writes).toHaveLength(count + 1);
    }
    expect(problems).toEqual(Array(2).fill(`a uid-a: ${message}`));
    await writes.at(-1)?.settle();
    expect([keeper.unwritten().size, results]).toEqual([0, ['failed', 'failed', 'written']]);
  });

  it('of many pods takes a few writes at once, so that addresses of others do not wait', async () => {
    const { start, plug, mirror, writes } = setUp();
    const keeper = start();
    for (let index = 0; index < 10; index += 1) {
      const { pod, sandbox } = await plug(`p${index}`, { ip: `10.128.1.${index}` });
      mirror(`p${index}`, undefined);
      keeper.attached(pod, sandbox, []);
    }
    expect(writes).toHaveLength(4);
    await writes[0]?.settle();
    expect(writes).toHaveLength(5);
  });

  it('has what plugins of other networks have made, after a start by their records', async () => {
    const { start, plug, mirror, writes, records, problems } = setUp();
    const keeper = start();
    const { pod, sandbox } = await plug('a');
    mirror('a', undefined);
    const foreign = { name: 'ns/macvlan', interface: 'net1', default: false };
    keeper.attached(pod, sandbox, [foreign]);
    const text = writes[0]?.text ?? '';
    expect(JSON.parse(text)).toMatchObject([{ interface: 'eth0' }, { name: 'ns/macvlan', interface: 'net1' }]);
    mirror('a', text);
    await writes[0]?.settle();
    keeper.stop();
    records.set(sandbox, [foreign]);
    await start().adopt();
    expect([writes.length, problems]).toEqual([1, []]);
  });

  it('is left as it is, and reported, where a record cannot be read', async () => {
    const { start, plug, mirror, writes, records, problems } = setUp();
    const { sandbox } = await plug('a');
    mirror('a', '[]');
    records.set(sandbox, new Error('x.json cannot be read'));
    const keeper = start();
    await keeper.adopt();
    const message = 'k8s.v1.cni.cncf.io/network-status cannot be written: x.json cannot be read';
    expect([writes.length, problems, [...keeper.unwritten()]]).toEqual([
      0,
      [`a uid-a: ${message}`],
      [['ns/a', message]],
    ]);
  });
});

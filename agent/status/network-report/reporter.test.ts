import { expect, it } from 'vitest';
import type { ReportedFirewalls, ReportStatus } from '../../../api/node-network-report.ts';
import { NODE_NETWORK_REPORTS } from '../../../api/resources.ts';
import { createFakeClock } from '../../../base/testing/fake-clock.ts';
import { KubeError } from '../../../kube/errors.ts';
import type { KubeObject, ObjectInput } from '../../../kube/types.ts';
import type { NetworkOnNode } from './ledger.ts';
import { leaseSeconds, NetworkReporter, type ReportObservation, renewMs, reportSpreadMs } from './reporter.ts';

const ready = (id: number): NetworkOnNode => ({ id, createdAt: '2026-01-01T00:00:00Z', state: 'Ready' });
const failed = (id: number, message: string): NetworkOnNode => ({ ...ready(id), state: 'Failed', message });
const refusal = (status: number): KubeError => new KubeError('ERR_KUBE_STATUS', `status ${status}`, { status });

/** The report has the same content, however it was renewed. */
const isRenewal = (before: ObjectInput | undefined, object: ObjectInput): boolean => {
  const contentOf = (one: ObjectInput | undefined): string =>
    JSON.stringify([one?.metadata?.ownerReferences, { ...(one?.['status'] as object), renewTime: '' }]);
  return contentOf(before) === contentOf(object);
};

/** An agent on a node, and the one object that it writes. */
const setUp = (initial: { stored?: KubeObject; nodes?: number; firewalls?: () => ReportedFirewalls } = {}) => {
  const clock = createFakeClock();
  const networks = new Map<string, NetworkOnNode>([['default', ready(0)]]);
  const api = {
    stored: initial.stored,
    error: undefined as KubeError | undefined,
    reads: 0,
    uid: 'u1' as string | undefined,
  };
  const writes: ObjectInput[] = [];
  const renewals: ObjectInput[] = [];
  const looked: string[] = [];
  const observed: ReportObservation['kind'][] = [];
  const ids = { retirement: undefined as number | undefined, leaving: [] as number[] };
  let gate = Promise.resolve();
  const reporter = new NetworkReporter({
    node: 'n1',
    rendering: 'Always',
    look: (network) => {
      looked.push(network);
      return networks.get(network);
    },
    ids: () => ids,
    ...(initial.firewalls && { firewalls: initial.firewalls }),
    nodeUid: () => api.uid,
    nodes: () => initial.nodes ?? 3,
    client: {
      get: (resource, { name }) => {
        expect([resource, name]).toEqual([NODE_NETWORK_REPORTS, 'n1']);
        api.reads += 1;
        return api.stored === undefined ? Promise.reject(refusal(404)) : Promise.resolve(api.stored);
      },
    },
    writer: {
      apply: async (_, object) => {
        await gate;
        if (api.error !== undefined) throw api.error;
        (isRenewal(writes.at(-1) ?? initial.stored, object) ? renewals : writes).push(object);
        api.stored = { ...object, metadata: { uid: 'r', resourceVersion: '1', ...object.metadata, name: 'n1' } };
        return api.stored;
      },
    },
    clock,
    random: () => 0.5,
    observe: ({ kind }) => observed.push(kind),
  });
  const set = (name: string, network?: NetworkOnNode): void => {
    if (network === undefined) networks.delete(name);
    else networks.set(name, network);
    reporter.touch(name);
  };
  /** Writes wait until the result is called. */
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    return resolve;
  };
  return { clock, api, ids, writes, renewals, looked, observed, reporter, set, hold };
};

it('writes all that it knows, owned by the Node, some time after something changed', async () => {
  const { clock, writes, set, reporter } = setUp();
  reporter.touch('default');
  set('red', ready(1));
  await clock.advance(1_400);
  expect(writes).toEqual([]);
  await clock.advance(200);
  expect(writes).toMatchObject([
    {
      metadata: { name: 'n1', ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1' }] },
      status: { rendering: 'Always', observed: '2026-01-01T00:00:00Z', ids: { ready: '0-1' } },
    },
  ]);
});

it('a burst of changes is one write, and looks at each network once', async () => {
  const { clock, writes, looked, set } = setUp();
  for (let id = 1; id <= 1_000; id += 1) set(`n${id}`, ready(id));
  for (let id = 1; id <= 1_000; id += 1) set(`n${id}`, ready(id));
  await clock.advance(60_000);
  expect(writes).toHaveLength(1);
  expect(looked).toHaveLength(1_000);
  set('n7', failed(7, 'EINVAL'));
  await clock.advance(60_000);
  expect(looked.slice(1_000)).toEqual(['n7']);
  expect(writes[1]).toMatchObject({ status: { ids: { ready: '1-6,8-1000', failed: '7' } } });
});

it('renews what it has written while nothing is another way, without asking what is there', async () => {
  const { clock, writes, renewals, api, set, reporter } = setUp();
  set('red', ready(1));
  await clock.advance(60_000);
  set('red', ready(1));
  reporter.touch('blue');
  await clock.advance(3_600_000);
  expect([writes.length, api.reads]).toEqual([1, 1]);
  expect(renewals.length).toBeGreaterThanOrEqual(3_600_000 / renewMs(3));
  expect(renewals.at(-1)).toMatchObject({
    status: { renewTime: expect.stringMatching(/^2026-01-01T01:00:/), leaseDurationSeconds: 40, ids: { ready: '1' } },
  });
  expect([renewMs(3), renewMs(500), leaseSeconds(3), leaseSeconds(500)]).toEqual([10_000, 25_000, 40, 75]);
});

it('an agent that starts again writes nothing when it is as before, also of what is wrong', async () => {
  const first = setUp();
  first.set('red', failed(1, 'EINVAL'));
  await first.clock.advance(60_000);
  const again = setUp({ ...(first.api.stored && { stored: first.api.stored }) });
  await again.clock.advance(86_400_000);
  again.set('red', failed(1, 'EINVAL'));
  await again.clock.advance(60_000);
  expect(again.writes).toEqual([]);
  again.set('red', ready(1));
  await again.clock.advance(60_000);
  expect(again.writes).toHaveLength(1);
});

it('a network that was recreated with its id is reported, though it is as ready as the one before', async () => {
  const { clock, writes, set } = setUp();
  set('red', ready(1));
  await clock.advance(60_000);
  set('red', { ...ready(1), createdAt: '2026-01-01T01:00:00Z' });
  await clock.advance(60_000);
  expect(writes.map(({ status }) => status)).toMatchObject([{}, { observed: '2026-01-01T01:00:00Z' }]);
});

it('looks again at what is not ready when something was written somewhere, and at nothing when all is well', async () => {
  const { clock, writes, looked, set, reporter } = setUp();
  set('red', { ...ready(1), state: 'Pending' });
  set('blue', ready(2));
  await clock.advance(60_000);
  looked.length = 0;
  reporter.touchUnready();
  await clock.advance(60_000);
  expect(looked).toEqual(['red']);
  set('red', ready(1));
  await clock.advance(60_000);
  looked.length = 0;
  reporter.touchUnready();
  expect([looked, writes.length]).toEqual([[], 2]);
});

it('two writes are apart, the more so the more nodes there are: all together write at most 20 times a second', async () => {
  for (const nodes of [1, 20, 500, 5_000]) {
    const { clock, writes, renewals, set } = setUp({ nodes });
    for (let second = 0; second < 600; second += 1) {
      set('red', failed(1, `${second}`));
      await clock.advance(1_000);
    }
    expect(((writes.length + renewals.length) * nodes) / 600).toBeLessThanOrEqual(20);
  }
  expect([reportSpreadMs(1), reportSpreadMs(500)]).toEqual([1_000, 25_000]);
});

it('a cluster that knows no such kind is reported once, and asked again ten minutes later', async () => {
  const { clock, api, observed, writes, set } = setUp();
  api.error = refusal(404);
  set('red', ready(1));
  for (let round = 0; round < 10; round += 1) {
    await clock.advance(59_000);
    set('red', ready(1));
  }
  expect([observed, api.reads]).toEqual([['absent'], 1]);
  await clock.advance(3_600_000);
  expect(observed).toEqual(['absent']);
  api.error = undefined;
  await clock.advance(700_000);
  expect([observed.slice(0, 2), writes.length]).toEqual([['absent', 'written'], 1]);
});

it('what the API refused is tried again, after having asked what is there', async () => {
  const { clock, api, observed, writes, set } = setUp();
  api.error = refusal(503);
  set('red', ready(1));
  await clock.advance(40_000);
  expect(observed).toContain('failed');
  api.error = undefined;
  await clock.advance(80_000);
  expect(writes).toHaveLength(1);
  expect(api.reads).toBeGreaterThan(1);
});

it('is refused without asking more and more often', async () => {
  const { clock, api, observed, set } = setUp();
  api.error = refusal(403);
  set('red', ready(1));
  await clock.advance(3_600_000);
  // After 30 s, 1, 2, 4, 8 and then 10 minutes.
  expect(observed.length).toBeGreaterThanOrEqual(8);
  expect(observed.length).toBeLessThanOrEqual(11);
});

it('a Node that comes, or is recreated, gets its report', async () => {
  const { clock, api, writes, set, reporter } = setUp();
  api.uid = undefined;
  set('red', ready(1));
  await clock.advance(60_000);
  expect(writes).toEqual([]);
  for (const uid of ['u1', 'u2']) {
    api.uid = uid;
    reporter.touchNode();
    await clock.advance(60_000);
  }
  expect(writes.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)).toEqual(['u1', 'u2']);
});

it('a Node that is recreated while its report is written gets another one', async () => {
  const { clock, api, writes, set, reporter, hold } = setUp();
  const release = hold();
  set('red', ready(1));
  await clock.advance(10_000);
  api.uid = 'u2';
  reporter.touchNode();
  release();
  await clock.advance(60_000);
  expect(writes.map(({ metadata }) => metadata.ownerReferences?.[0]?.uid)).toEqual(['u1', 'u2']);
});

it('nothing is written after the end', async () => {
  const { clock, writes, set, reporter } = setUp();
  set('red', ready(1));
  reporter.stop();
  set('blue', ready(2));
  await clock.advance(60_000);
  expect([writes, clock.pending]).toEqual([[], 0]);
});

it('what is left of networks that are gone is said, and which retirement has been seen', async () => {
  const { clock, ids, writes, reporter } = setUp();
  reporter.touch('default');
  await clock.advance(3_000);
  expect(writes[0]?.['status']).not.toHaveProperty('retirement');
  ids.leaving = [7, 8];
  reporter.touchIds();
  await clock.advance(3_000);
  expect(writes[1]).toMatchObject({ status: { ids: { ready: '0', leaving: '7-8' } } });
  ids.retirement = 4;
  ids.leaving = [];
  reporter.touchIds();
  await clock.advance(3_000);
  expect(writes[2]).toMatchObject({ status: { retirement: 4, ids: { ready: '0' } } });
  reporter.touchIds();
  await clock.advance(3_000);
  expect(writes).toHaveLength(3);
});

it('has the firewalls that the node has applied, and writes when these are others', async () => {
  let firewalls: ReportedFirewalls = { applied: 'abcdefgh' };
  const { clock, writes, reporter, set } = setUp({ firewalls: () => firewalls });
  set('red', ready(1));
  await clock.advance(60_000);
  firewalls = { applied: '', problems: [{ firewall: 'abcdefgh', message: 'no room' }] };
  reporter.touchFirewalls();
  reporter.touchFirewalls();
  await clock.advance(60_000);
  reporter.touchFirewalls();
  await clock.advance(60_000);
  expect(writes.map(({ status }) => (status as ReportStatus).firewalls)).toEqual([{ applied: 'abcdefgh' }, firewalls]);
});

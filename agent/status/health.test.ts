import { describe, expect, it } from 'vitest';
import type { BackendName } from '../../api/agent-status.ts';
import type { QueueState } from '../../base/reconciler.ts';
import { type HealthSources, reasonsNotAlive, reasonsNotProxying, reasonsNotServing } from './health.ts';

const IDLE: QueueState = { depth: 0, oldestMs: 0, stalledMs: 0, hasCompared: true };
const ALL = ['northbound', 'southbound', 'openvswitch', 'openflow', 'host', 'nftables'] as const;

const queues = (
  changes: Partial<Record<BackendName, Partial<QueueState>>> = {},
): ReadonlyMap<BackendName, QueueState> => new Map(ALL.map((name) => [name, { ...IDLE, ...changes[name] }]));

const sources = (changes: Partial<HealthSources> = {}): HealthSources => ({
  podReasons: () => [],
  isCniOpen: () => true,
  pluginReasons: () => [],
  connected: () =>
    new Map([
      ['northbound', true],
      ['southbound', true],
    ]),
  queues: () => queues(),
  gateway: () => 'seen',
  components: () => [],
  ...changes,
});

describe('alive', () => {
  it('as long as work takes steps, however much of it there is', () => {
    const busy = { depth: 10_000, oldestMs: 3_600_000, stalledMs: 299_000, hasCompared: false };
    expect(reasonsNotAlive(queues({ host: busy, northbound: busy }))).toEqual([]);
  });

  it('whatever is away', () => {
    const away = { failing: { forMs: 3_600_000, message: 'gone' }, oldestMs: 3_600_000 };
    expect(reasonsNotAlive(queues(Object.fromEntries(ALL.map((name) => [name, away]))))).toEqual([]);
  });

  it.each(ALL)('not while a step of %s never ends', (name) => {
    const [reason, ...others] = reasonsNotAlive(queues({ [name]: { stalledMs: 301_000 } }));
    expect(others).toEqual([]);
    expect(reason).toMatch(/: no progress for 301 s$/);
  });
});

describe('ready', () => {
  it('when nothing speaks against it', () => {
    expect(reasonsNotServing(sources())).toEqual([]);
  });

  it.each<[string, Partial<HealthSources>]>([
    ['node n1 has no subnet', { podReasons: () => ['node n1 has no subnet'] }],
    ['the socket for the CNI plugin is not open yet', { isCniOpen: () => false }],
    [
      'the CNI program cannot be installed in /opt/cni/bin: ENOSPC',
      { pluginReasons: () => ['the CNI program cannot be installed in /opt/cni/bin: ENOSPC'] },
    ],
    ['the southbound database cannot be reached', { connected: () => new Map([['southbound', false]]) }],
    [
      'nftables was not compared with the desired state yet',
      { queues: () => queues({ nftables: { hasCompared: false } }) },
    ],
    [
      'the bridge has failed for 31 s: no answer',
      { queues: () => queues({ openflow: { failing: { forMs: 31_000, message: 'no answer' }, hasCompared: false } }) },
    ],
    ['the gateway of this node is unknown: its networks have no path out', { gateway: () => 'unknown' }],
    [
      'the gateway of this node is a cached one: it was not observed since the agent started',
      { gateway: () => 'remembered' },
    ],
  ])('not while %s', (reason, changes) => {
    expect(reasonsNotServing(sources(changes))).toEqual([reason]);
  });

  it('while a place is away for a moment, or has much to do', () => {
    const busy = { failing: { forMs: 29_000, message: 'restarts' }, depth: 500, oldestMs: 60_000 };
    expect(reasonsNotServing(sources({ queues: () => queues({ openflow: busy }) }))).toEqual([]);
  });
});

describe('Services are as desired', () => {
  const reasons = (changes: Partial<HealthSources>): string[] => reasonsNotProxying(sources(changes));
  const away = { connected: () => new Map([['northbound', false] as const]) };

  it.each<[string, Partial<HealthSources>]>([
    [
      'whatever keeps pods from starting',
      { podReasons: () => ['no'], isCniOpen: () => false, gateway: () => 'unknown' },
    ],
    ['while a database is away and nothing waits for it', away],
    ['while a database is away for a moment', { ...away, queues: () => queues({ northbound: { oldestMs: 29_000 } }) }],
    [
      'though one bad object waits for ever',
      { queues: () => queues({ northbound: { oldestMs: 3_600_000, depth: 1 } }) },
    ],
  ])('%s', (_, changes) => {
    expect(reasons(changes)).toEqual([]);
  });

  it.each<[string, Partial<HealthSources>]>([
    [
      'not while changes wait for a database that is away: the northbound database cannot be reached',
      { ...away, queues: () => queues({ northbound: { oldestMs: 31_000 } }) },
    ],
    [
      'not while a place cannot be programmed: nftables has failed for 31 s: no',
      { queues: () => queues({ nftables: { failing: { forMs: 31_000, message: 'no' } } }) },
    ],
    [
      'not at the start: the northbound database was not compared with the desired state yet',
      { queues: () => queues({ northbound: { hasCompared: false } }) },
    ],
    [
      'not while a step does not end: the bridge: no progress for 301 s',
      { queues: () => queues({ openflow: { stalledMs: 301_000 } }) },
    ],
  ])('%s', (title, changes) => {
    expect(reasons(changes)).toEqual([title.slice(title.indexOf(': ') + 2)]);
  });
});

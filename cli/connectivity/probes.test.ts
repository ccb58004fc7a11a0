import { describe, expect, it } from 'vitest';
import { type Ip, parseIp } from '../../net/ip.ts';
import { type Probe, type ProbedPod, planProbes, type Targets } from './probes.ts';
import { podPlaces, TESTS } from './run.ts';
import { defaultSubnets } from './subnets.ts';

const NODES = [
  { name: 'n1', hostname: 'n1' },
  { name: 'n2', hostname: 'n2' },
] as const;
const UDN = { subnets: defaultSubnets([4, 6]) };
const DEFAULT = { subnets: undefined };
const ALL = new Set(TESTS);

/** As overlapping subnets have it: pods of both tenants have the same addresses. */
const podsOn = (nodes: readonly [(typeof NODES)[number]] | typeof NODES): readonly ProbedPod[] =>
  podPlaces({ nodes }).map((place) => ({
    ...place,
    mtu: 1400,
    addresses: [parseIp(`10.203.0.${place.name.slice(1)}`), parseIp(`fd00:10:203::${place.name.slice(1)}`)],
  }));

const ips = (...texts: readonly string[]): readonly Ip[] => texts.map(parseIp);

const targets = (pods: readonly ProbedPod[]): Targets => ({
  pods,
  services: { a: ips('10.96.0.10', 'fd00:96::10'), b: ips('10.96.0.11') },
  api: ips('10.96.0.1'),
});

const line = ({ test, from, to, target, expected, datagram }: Probe): string =>
  [test, from.name, '->', to, target, expected, ...(datagram === undefined ? [] : [datagram])].join(' ');

const plan = (run: typeof UDN | typeof DEFAULT, tests = ALL, pods = podsOn(NODES)) =>
  planProbes(run, tests, targets(pods)).map(line);

describe('what is probed', () => {
  it('from one pod of a tenant: its own network is reached, the other one is not', () => {
    expect(plan(UDN).filter((text) => text.includes(' a3 ->'))).toEqual([
      'pods a3 -> pod a1 10.203.0.1:20080 reached',
      'pods a3 -> pod a1 [fd00:10:203::1]:20080 reached',
      'pods a3 -> pod a2 10.203.0.2:20080 reached',
      'pods a3 -> pod a2 [fd00:10:203::2]:20080 reached',
      'pods a3 -> pod b1 10.203.0.1:30080 not reached',
      'pods a3 -> pod b1 [fd00:10:203::1]:30080 not reached',
      'pods a3 -> pod b2 10.203.0.2:30080 not reached',
      'pods a3 -> pod b2 [fd00:10:203::2]:30080 not reached',
      'pods a3 -> pod b3 10.203.0.3:30080 not reached',
      'pods a3 -> pod b3 [fd00:10:203::3]:30080 not reached',
      'services a3 -> Service of a 10.96.0.10:80 reached',
      'services a3 -> Service of a [fd00:96::10]:80 reached',
      'services a3 -> Service of b 10.96.0.11:80 not reached',
      'dns a3 -> kubernetes.default kubernetes.default:443 reached',
      'api a3 -> API server 10.96.0.1:443 reached',
      'mtu a3 -> pod a1, 1400 bytes 10.203.0.1:20081 reached 1372',
      'mtu a3 -> pod a1, 1400 bytes [fd00:10:203::1]:20081 reached 1352',
    ]);
  });

  it('every ordered pair, of both nodes', () => {
    const pairs = new Set(plan(UDN, new Set(['pods'])).map((text) => text.split(' ').slice(1, 5).join(' ')));
    expect(pairs.size).toBe(6 * 5);
  });

  it('on the default network everybody reaches everybody', () => {
    expect(plan(DEFAULT).filter((text) => text.includes('not reached'))).toEqual([]);
    expect(plan(DEFAULT)).toHaveLength(plan(UDN).length);
  });

  it('with one node, no packet between nodes', () => {
    expect(plan(UDN, new Set(['mtu']), podsOn([NODES[0]]))).toEqual([]);
  });

  it('nothing of a pod that does not run', () => {
    const [missing, ...others] = podsOn(NODES);
    expect(plan(UDN, ALL, others).filter((text) => text.includes(`${missing?.name}`))).toEqual([]);
  });
});

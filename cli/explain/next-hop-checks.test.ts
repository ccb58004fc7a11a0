import { describe, expect, it } from 'vitest';
import { askerCookie } from '../../agent/model/registry/marks.ts';
import { parseNetworkId } from '../../net/ids.ts';
import type { Transact } from '../flows/datapaths.ts';
import type { Row } from '../node/wire-values.ts';
import { nextHopChecks } from './next-hop-checks.ts';
import type { ExplainSources } from './sources.ts';

const PORT = 'rtoe-GR_red_red_n1';
const NETWORK = { id: 1, name: 'red_red', node: 'n1', bridge: 'br-ex' };

const table =
  (name: string, rows: readonly Row[]): Transact =>
  ([operation]) => {
    expect(operation).toMatchObject({ op: 'select', table: name });
    return Promise.resolve([{ rows }] as never);
  };

const routes: Row[] = [
  { ip_prefix: '0.0.0.0/0', nexthop: '172.30.0.1' },
  { ip_prefix: '::/0', nexthop: 'fd00:30::1' },
  { ip_prefix: '169.254.0.0/17', nexthop: '169.254.0.4' },
];

const learned = (id: number, match: string): string =>
  ` cookie=0x${askerCookie(parseNetworkId(id)).toString(16)}, duration=1s, table=21, n_packets=0, n_bytes=0, hard_timeout=15, priority=10,${match} actions=output:3\n`;

const check = async (bindings: readonly Row[], flows = '') => {
  const sources = {
    northbound: table('Logical_Router_Static_Route', routes),
    southbound: table('MAC_Binding', bindings),
    runner: { run: () => Promise.resolve({ stdout: flows, stderr: '' }) },
  } satisfies Partial<ExplainSources>;
  const checks = await nextHopChecks(sources as unknown as ExplainSources, NETWORK);
  return checks.map(({ what, state }) => [what, state]);
};

describe('next hops of a network', () => {
  it('are known where its gateway router has a MAC of them', async () => {
    const both = ['172.30.0.1', 'fd00:30::1'].map((ip) => ({ logical_port: PORT, ip, mac: '0a:00:00:00:00:01' }));
    expect(await check(both)).toEqual([
      ['next hop 172.30.0.1', 'ok'],
      ['next hop fd00:30::1', 'ok'],
    ]);
  });

  it('are missing while it asks for them and nobody answers', async () => {
    const asking =
      learned(1, 'arp,arp_spa=172.30.0.1,arp_op=2') + learned(1, 'icmp6,icmp_type=136,nd_target=fd00:30::1');
    expect(await check([], asking)).toEqual([
      ['next hop 172.30.0.1', 'missing'],
      ['next hop fd00:30::1', 'missing'],
    ]);
  });

  it('are nothing to worry about while only others need them', async () => {
    const others = learned(2, 'arp,arp_spa=172.30.0.1,arp_op=2') + learned(1, 'arp,arp_spa=172.30.0.11,arp_op=2');
    expect(await check([], others)).toEqual([
      ['next hop 172.30.0.1', 'unknown'],
      ['next hop fd00:30::1', 'unknown'],
    ]);
  });
});

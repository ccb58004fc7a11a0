/** What features render is what ovs-vswitchd and nft take, in their own words, and what it does to packets. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LOCAL } from '../../agent/model/facts.ts';
import { COOKIES } from '../../agent/model/registry/marks.ts';
import type { TestCluster } from '../../agent/testing/cluster.ts';
import { createNftables } from '../../datapath/nftables/backend.ts';
import { realNft } from '../../datapath/nftables/testing/real-nft.ts';
import { nftItemKey } from '../../datapath/nftables/types.ts';
import { OpenflowBackend } from '../../datapath/openflow/backend.ts';
import { VswitchWorld } from '../../datapath/openflow/testing/vswitch-world.ts';
import { type BridgeItem, bridgeItemKey } from '../../datapath/openflow/types.ts';
import { parseIp } from '../../net/ip.ts';
import { parseMac } from '../../net/mac.ts';
import { runProgram } from '../../ovsdb/testing/programs.ts';
import { addTenant, nameOf, VARIANTS, type Variant, workedCluster } from '../unit/golden/worked-cluster.ts';

const PORTS = { eth0: 1, 'patch-br-ex_node1-to-br-int': 2, 'patch-br-ex_blue_node1-to-br-int': 3 } as const;
const signal = (): AbortSignal => AbortSignal.timeout(30_000);
const variants = VARIANTS.map((variant) => [nameOf(variant), variant] as const);

describe('flows', () => {
  let world: VswitchWorld;

  beforeAll(async () => {
    world = await VswitchWorld.create();
    await world.addBridge('br-int');
    await world.addBridge('br-ex');
    for (const [port, number] of Object.entries(PORTS)) await world.addPort('br-ex', port, number);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const program = async (cluster: TestCluster): Promise<void> => {
    cluster.render();
    const desired = new Map<string, BridgeItem>(
      cluster.sinks.openflow.all().map((item) => [bridgeItemKey(item), item]),
    );
    const cookies = Object.values(COOKIES);
    const open = () =>
      new OpenflowBackend({ client: world.client, ports: world.ports, cookies, isOurGroup: () => true });
    const backend = open();
    const { failed, waiting } = await backend.reconcile({ desired, keys: 'all', prune: true }, signal());
    await backend.close();
    expect([...failed, ...waiting]).toEqual([]);
    const again = open();
    expect((await again.reconcile({ desired, keys: 'all', prune: true }, signal())).written).toBe(0);
    await again.close();
  };

  it.each(variants)('%s is taken by ovs-vswitchd, and is right as it is afterwards', async (_, variant) => {
    await program(workedCluster(variant));
  });

  it('in a VLAN, with several addresses, and without an uplink are taken, too', async () => {
    const addresses = ['172.30.0.2/24', '172.31.0.2/24', 'fd00:30::2/64', 'fd00:31::2/64'];
    for (const mode of ['shared', 'local'] as const) {
      const cluster = workedCluster({ topology: 'layer2', mode, family: 'dual' });
      await program(cluster.gateway('node1', { mode, addresses, vlanId: 7, nextHops: ['172.30.0.1'] }));
      await program(cluster.gateway('node1', { mode, addresses, uplink: null }));
    }
  });

  describe('of a dual-stack network in shared gateway mode', () => {
    const VARIANT: Variant = { topology: 'layer3', mode: 'shared', family: 'dual' };
    const MAC = 'dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:99';
    beforeAll(() => program(workedCluster(VARIANT)));

    /** What ovs-vswitchd would do with a packet from the tenant's patch port, ovs-appctl(8) ofproto/trace. */
    const fromTenant = async (packet: string): Promise<string> => {
      const target = `${world.socket('br-ex').slice('unix:'.length, -'br-ex.mgmt'.length)}vswitchd.ctl`;
      const text = await runProgram('ovs-appctl', ['-t', target, 'ofproto/trace', 'br-ex', `in_port=3,${packet}`]);
      return /^Datapath actions: (.*)$/m.exec(text)?.[1] ?? text;
    };

    it.each([
      ['TCP of its masquerade address', `tcp,${MAC},nw_src=169.254.0.11,nw_dst=8.8.8.8`],
      ['IPv6 of its masquerade address', `tcp6,${MAC},ipv6_src=fd69::b,ipv6_dst=2001:db8::1`],
      [
        'the question for a neighbour',
        `arp,${MAC},arp_op=1,arp_spa=172.30.0.2,arp_sha=02:00:00:00:00:01,arp_tpa=172.30.0.1`,
      ],
    ])('lets %s out', async (_, packet) => {
      expect(await fromTenant(packet)).not.toBe('drop');
    });

    it.each([
      ['a pod’s own address', `tcp,${MAC},nw_src=10.200.1.5,nw_dst=8.8.8.8`],
      ['the node’s address', `tcp,${MAC},nw_src=172.30.0.2,nw_dst=8.8.8.8`],
      ['another network’s masquerade address', `udp,${MAC},nw_src=169.254.0.13,nw_dst=8.8.8.8`],
      ['a neighbour’s address', `icmp,${MAC},nw_src=172.30.0.77,nw_dst=8.8.8.8`],
      ['its own address, to another network’s', `tcp,${MAC},nw_src=169.254.0.11,nw_dst=169.254.0.13`],
      ['its own address with another MAC', 'tcp,dl_src=02:00:00:00:00:66,nw_src=169.254.0.11,nw_dst=8.8.8.8'],
      [
        'a pod’s address, to the node’s MAC',
        'tcp,dl_src=02:00:00:00:00:01,dl_dst=02:00:00:00:00:01,nw_src=10.200.1.5,nw_dst=172.30.0.2',
      ],
      ['IPv6 of a pod', `tcp6,${MAC},ipv6_src=fd00:200:0:1::5,ipv6_dst=2001:db8::1`],
      [
        'an ARP request for another’s address',
        `arp,${MAC},arp_op=1,arp_spa=172.30.0.77,arp_sha=02:00:00:00:00:01,arp_tpa=172.30.0.1`,
      ],
      ['an ARP reply', `arp,${MAC},arp_op=2,arp_spa=172.30.0.2,arp_sha=02:00:00:00:00:01`],
      [
        'a question for the node’s own address',
        `arp,${MAC},arp_op=1,arp_spa=172.30.0.77,arp_sha=02:00:00:00:00:66,arp_tpa=172.30.0.2`,
      ],
      [
        'a router advertisement',
        `icmp6,${MAC},ipv6_src=fe80::ff:fe00:1,ipv6_dst=ff02::1,icmpv6_type=134,icmpv6_code=0`,
      ],
      [
        'a neighbour advertisement',
        `icmp6,${MAC},ipv6_src=fd00:30::2,ipv6_dst=ff02::1,icmpv6_type=136,icmpv6_code=0,nd_target=fd00:30::77`,
      ],
      ['what is no IP', `dl_type=0x88cc,${MAC}`],
    ])('drops %s', async (_, packet) => {
      expect(await fromTenant(packet)).toBe('drop');
    });
  });

  describe('of two networks that share flows', () => {
    const VARIANT: Variant = { topology: 'layer3', mode: 'shared', family: 'dual' };
    const NODE = '02:00:00:00:00:01';
    const OTHER = '0a:00:00:00:00:09';
    beforeAll(async () => {
      await world.addPort('br-ex', 'patch-br-ex_green_node1-to-br-int', 4);
      await program(withNeighbours());
    });

    const withNeighbours = (): TestCluster => {
      const cluster = addTenant(workedCluster(VARIANT), 'green', 2, VARIANT);
      const known = ['172.30.0.1', 'fd00:30::1'].map((ip) => ({ ip: parseIp(ip), mac: parseMac('0a:00:00:00:00:01') }));
      cluster.facts.set('neighbours', LOCAL, known);
      return cluster;
    };

    /** With what it teaches the bridge. */
    const trace = (port: number, packet: string): Promise<string> =>
      world.control('ofproto/trace', 'br-ex', `in_port=${port},${packet}`, '-generate');
    /** Ports by their number on the bridge, in order. */
    const outputs = (text: string): string[] =>
      [...text.matchAll(/^ *(?:output:(\d+)|(LOCAL|IN_PORT|NORMAL|FLOOD))$/gm)].map(
        ([, port, name]) => port ?? name ?? '',
      );
    const learned = async (): Promise<string> =>
      world.ofctl('-O', 'OpenFlow15', '--no-names', '--no-stats', 'dump-flows', world.socket('br-ex'), 'table=21');

    const arpQuestion = (about: string) =>
      `arp,dl_src=${NODE},dl_dst=ff:ff:ff:ff:ff:ff,arp_op=1,arp_spa=172.30.0.2,arp_sha=${NODE},arp_tpa=${about}`;
    const arpAnswer = (about: string) =>
      `arp,dl_src=${OTHER},dl_dst=${NODE},arp_op=2,arp_spa=${about},arp_sha=${OTHER},arp_tpa=172.30.0.2,arp_tha=${NODE}`;
    const solicitation = (about: string) =>
      `icmp6,dl_src=${NODE},dl_dst=33:33:ff:00:00:01,ipv6_src=fe80::ff:fe00:1,ipv6_dst=ff02::1:ff00:1,nw_ttl=255,icmpv6_type=135,icmpv6_code=0,nd_target=${about},nd_sll=${NODE}`;
    const advertisement = (about: string) =>
      `icmp6,dl_src=${OTHER},dl_dst=${NODE},ipv6_src=${about},ipv6_dst=fe80::ff:fe00:1,nw_ttl=255,icmpv6_type=136,icmpv6_code=0,nd_target=${about},nd_tll=${OTHER}`;

    it.each([
      ['ARP', arpQuestion('172.30.0.9'), arpAnswer('172.30.0.9'), arpAnswer('172.30.0.8'), ['2', 'LOCAL']],
      ['discovery', solicitation('fd00:30::9'), advertisement('fd00:30::9'), advertisement('fd00:30::8'), ['FLOOD']],
    ])(
      'the answer of %s goes to the one that has asked last, the default network and the host',
      async (_, ...packets) => {
        const [question, answer, unasked, always] = packets;
        expect(outputs(await trace(3, question))).toEqual(['1']);
        expect(outputs(await trace(1, answer)).sort()).toEqual([...always, '3'].sort());
        expect(outputs(await trace(4, question))).toEqual(['1']);
        expect(outputs(await trace(1, answer)).sort()).toEqual([...always, '4'].sort());
        expect(outputs(await trace(1, unasked))).toEqual(always);
      },
    );

    it('what a network asks is its own to fill, and is forgotten with it', async () => {
      for (let host = 10; host < 110; host += 1) await trace(3, arpQuestion(`172.30.0.${host}`));
      await trace(4, arpQuestion('172.30.0.200'));
      const lines = (await learned()).split('\n');
      expect(lines.filter((line) => line.includes('cookie=0xdeff1050001,'))).toHaveLength(64);
      expect(lines.filter((line) => line.includes('arp_spa=172.30.0.200,'))).toHaveLength(1);
      const without = workedCluster(VARIANT);
      without.facts.set('network', 'blue', undefined);
      await program(addTenant(without, 'green', 2, VARIANT));
      expect(await learned()).not.toContain('cookie=0xdeff1050001,');
    });

    describe('each has what it sends noted with its own mark, also from one address', () => {
      beforeAll(() => program(withNeighbours()));
      const datapathActions = async (port: number, ends: string): Promise<string> => {
        const macs = `dl_src=${NODE},dl_dst=${OTHER}`;
        return /^Datapath actions: (.*)$/m.exec(await trace(port, `tcp,${macs},${ends}`))?.[1] ?? '';
      };
      const [BLUE, GREEN] = ['169.254.0.11', '169.254.0.13'];
      const JOIN = '100.65.0.2';

      it.each([
        [3, 'mark=0x4/0xffffffff', [BLUE, JOIN]],
        [4, 'mark=0x5/0xffffffff', [GREEN, JOIN]],
      ] as const)('port %i, %s', async (port, mark, sources) => {
        for (const src of sources) {
          expect(await datapathActions(port, `nw_src=${src},nw_dst=8.8.8.8`)).toContain(mark);
          const toHost = await datapathActions(port, `nw_src=${src},nw_dst=169.254.0.2`);
          expect(toHost.includes(mark), src).toBe(src === JOIN);
        }
      });

      it.each([
        [3, GREEN],
        [4, BLUE],
      ] as const)('port %i sends nothing from %s', async (port, src) => {
        for (const dst of ['8.8.8.8', '169.254.0.2', '10.9.9.9']) {
          expect(await datapathActions(port, `nw_src=${src},nw_dst=${dst}`)).toBe('drop');
        }
      });
    });

    it('what the node knows is answered on the node, to whoever asks', async () => {
      await program(withNeighbours());
      const arp = await trace(4, arpQuestion('172.30.0.1'));
      expect(outputs(arp)).toEqual(['IN_PORT']);
      expect(/^Final flow: (.*)$/m.exec(arp)?.[1]).toContain(
        'dl_src=0a:00:00:00:00:01,dl_dst=02:00:00:00:00:01,arp_spa=172.30.0.1,arp_tpa=172.30.0.2,arp_op=2,arp_sha=0a:00:00:00:00:01,arp_tha=02:00:00:00:00:01',
      );
      const discovery = await trace(3, solicitation('fd00:30::1'));
      expect(outputs(discovery)).toEqual(['IN_PORT']);
      expect(discovery).toMatch(
        /^Datapath actions: .*src=0a:00:00:00:00:01,dst=02:00:00:00:00:01.*src=fd00:30::1,dst=fe80::ff:fe00:1.*nd_reserved=0x60000000,nd_options_type=2.*tll=0a:00:00:00:00:01.*type=136/m,
      );
    });
  });
});

describe('nftables', () => {
  it.each(variants)('%s is taken by nft, and printed as it was wanted', async (_, variant) => {
    const { close, ...nft } = await realNft();
    try {
      const cluster = workedCluster(variant);
      // Rules about processes need a kubelet that runs.
      cluster.facts.set('kubeletCgroup', LOCAL, undefined);
      cluster.render();
      const desired = new Map(cluster.sinks.nftables.all().map((item) => [nftItemKey(item), item]));
      const { failed } = await createNftables(nft).reconcile({ desired, keys: 'all', prune: true }, signal());
      expect([...failed]).toEqual([]);
      expect(await createNftables(nft).difference(desired)).toEqual([]);
    } finally {
      await close();
    }
  });
});

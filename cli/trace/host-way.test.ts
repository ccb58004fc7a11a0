import { describe, expect, it } from 'vitest';
import type { NetworkStatus } from '../../api/agent-status.ts';
import { parseListing } from '../../datapath/nftables/parse-listing.ts';
import { parseNetworkId } from '../../net/ids.ts';
import { type HostWaySources, hostWay, type Sent } from './host-way.ts';

/** As nft 1.1 prints it. */
const TABLE = `table inet ovn-udn {
	map udn-mark-nodeports {
		type inet_proto . inet_service : verdict
		elements = { tcp . 31001 comment "red/pub" : jump udn-mark-0x1001,
			     tcp . 31021 comment "plain/pub" : jump udn-mark-0x1000 }
	}
	map udn-mark-external-ips-v6 {
		type ipv6_addr . inet_proto . inet_service : verdict
		elements = { 2001:db8:113::21 . udp . 53 comment "plain/pub" : jump udn-mark-0x1000 }
	}
	map nodeports-v4 {
		type inet_proto . inet_service : ipv4_addr . inet_service
		elements = { tcp . 31001 comment "red/pub" : 10.96.0.2 . 80,
			     tcp . 31021 comment "plain/pub" : 10.96.0.8 . 80 }
	}
	map external-ips-v6 {
		type ipv6_addr . inet_proto . inet_service : ipv6_addr . inet_service
		elements = { 2001:db8:113::21 . udp . 53 comment "plain/pub" : fd00:10:96::7 . 53 }
	}
	set nodeport-ips-v4 {
		type ipv4_addr
		elements = { 172.20.0.11 }
	}
	chain udn-mark-0x1000 {
		meta mark set 0x00001000
	}
	chain udn-mark-0x1001 {
		meta mark set 0x00001001
	}
}
`;

const network = (name: string, id: number): NetworkStatus => ({
  ...{ name, id: parseNetworkId(id), nads: [], topology: 'layer3', role: id === 0 ? 'default' : 'primary', mtu: 1400 },
  ...{ subnets: [], nodeSubnets: [], pods: 0, state: 'ready' },
});

/** @param rules by the mark of red_net */
const sources = (rules = '', table: string | Error = TABLE): HostWaySources => ({
  agent: { networks: () => Promise.resolve([network('default', 0), network('red_net', 1)]) },
  runner: {
    run: ({ file, args }) => {
      expect([file, ...args]).toEqual(['ip', '-4', 'rule', 'show', 'fwmark', '0x1001']);
      return Promise.resolve({ stdout: rules, stderr: '' });
    },
  },
  hostTable: () => (typeof table === 'string' ? Promise.resolve(parseListing(table)) : Promise.reject(table)),
});

const SENT: Sent = { to: '172.20.0.11', port: 31_021, protocol: 'tcp' };

describe('what a process of the host sends', () => {
  it('to a node port goes to the ClusterIP, with the mark of the Service’s network', async () =>
    expect(await hostWay(sources(), SENT)).toMatchObject({
      sent: { to: '10.96.0.8', port: 80, protocol: 'tcp', mark: 0x10_00 },
      why: 'nftables translate 172.20.0.11:31021/tcp to 10.96.0.8:80',
    }));

  it('to an external address, too', async () =>
    expect(await hostWay(sources(), { to: '2001:db8:113::21', port: 53, protocol: 'udp' })).toMatchObject({
      sent: { to: 'fd00:10:96::7', port: 53, protocol: 'udp' },
      why: 'nftables translate [2001:db8:113::21]:53/udp to [fd00:10:96::7]:53',
    }));

  it('to a tenant’s Service takes the VRF of its network, where there is one', async () => {
    const red = { ...SENT, port: 31_001 };
    const routed = await hostWay(sources('2000: from all fwmark 0x1001 lookup 100001'), red);
    expect(routed).toMatchObject({ sent: { to: '10.96.0.2', mark: 0x10_01 } });
    expect(routed.stop).toBeUndefined();
    expect((await hostWay(sources(), red)).stop).toBe(
      'not answered: nftables translate 172.20.0.11:31001/tcp to 10.96.0.2:80, with mark 0x1001, but this host has no rule for it to the VRF of network red_net',
    );
  });

  it.each<[string, Partial<Sent>]>([
    ['a port of nobody', { port: 31_999 }],
    ['another protocol', { protocol: 'udp' }],
    ['no port at all', { protocol: 'icmp' }],
    ['another node', { to: '172.20.0.12' }],
    ['a pod by its name', { to: 'red/client' }],
  ])('to %s goes where it is sent', async (_, more) => {
    const sent = { ...SENT, ...more };
    const way = await hostWay(sources(), sent);
    expect(way).toMatchObject({ sent });
    expect(way.why).toBeUndefined();
  });

  it('is not evaluated by nftables that do not answer', async () =>
    expect(await hostWay(sources('', new Error('no nft')), SENT)).toMatchObject({ sent: SENT, unread: 'no nft' }));
});

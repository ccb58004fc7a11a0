/** What several features want where tunnels are encrypted, and what is as ever without. */
import { describe, expect, it } from 'vitest';
import type { LocalSettings } from '../model/view.ts';
import { DEFAULT_ENCRYPTION_FILES } from '../options/encryption.ts';
import { TestCluster } from '../testing/cluster.ts';

const render = (local: Partial<LocalSettings>) =>
  new TestCluster('node1', {}, local)
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23', 'fd00:10:128::/64'] } })
    .node('node2', { id: 3, encapIps: ['172.30.0.3'], subnets: { default: ['10.128.2.0/23', 'fd00:10:128:1::/64'] } })
    .gateway('node1', { addresses: ['172.30.0.2/24', 'fd00:30::2/64'], nextHops: ['172.30.0.1', 'fd00:30::1'] })
    .render();

const plain = render({});
const encrypted = render({ encryption: DEFAULT_ENCRYPTION_FILES });

const otherConfig = ({ openvswitch }: typeof plain) => openvswitch['Open_vSwitch']?.[0]?.['other_config'];
const added = (of: (document: typeof plain) => readonly string[]): string[] => {
  const before = new Set(of(plain));
  return of(encrypted).filter((line) => !before.has(line));
};

describe('with IPsec', () => {
  it('OVN names the other ends, and the files are named to who configures strongSwan', () => {
    expect(plain.northbound['NB_Global']).toMatchObject([{ ipsec: false }]);
    expect(encrypted.northbound['NB_Global']).toMatchObject([{ ipsec: true }]);
    expect(otherConfig(plain)).not.toHaveProperty('certificate');
    expect(otherConfig(encrypted)).toMatchObject({
      certificate: '/etc/ipsec.d/certs/ovn-udn.pem',
      private_key: '/etc/ipsec.d/private/ovn-udn.pem',
      ca_cert: '/etc/ipsec.d/cacerts/ovn-udn.pem',
    });
  });

  it('the host takes and sends nothing of tunnels in clear, and passes on nothing to what encrypts them', () => {
    const lines = added(({ nftables }) => nftables.split('\n')).map((line) => line.trim());
    const toNode = ['ip daddr @udn-node-ips-v4 drop', 'ip6 daddr @udn-node-ips-v6 drop'];
    expect(new Set(lines)).toEqual(
      new Set([
        'udp dport 6081 meta ipsec missing drop',
        'chain udn-tunnels-encrypted {',
        'udp dport 6081 rt ipsec missing drop',
        ...toNode.flatMap((to) => [`udp dport { 500, 4500 } ${to}`, `meta l4proto { esp, ah } ${to}`]),
      ]),
    );
  });

  it('networks reach neither IKE nor ESP of a node', () => {
    const flows = added(({ openflow }) => openflow['br-ex'] ?? []).filter((flow) => flow.includes('conjunction'));
    const clauses = ['udp,tp_dst=500', 'udp,tp_dst=4500', 'ip,nw_proto=50', 'ip,nw_proto=51'];
    const clauses6 = ['udp6,tp_dst=500', 'udp6,tp_dst=4500', 'ipv6,nw_proto=50'];
    expect(flows.map((flow) => /priority=710, ?(\S+?),? actions=conjunction\(1,3\/3\)/.exec(flow)?.[1]).sort()).toEqual(
      [...clauses, ...clauses6].sort(),
    );
  });

  it('ESP between nodes passes the gateway bridge as Geneve does, that of others does not', () => {
    const flows = added(({ openflow }) => openflow['br-ex'] ?? []).filter((flow) => !flow.includes('conjunction'));
    expect(flows.map((flow) => flow.replace(/^.*?priority=/, ''))).toEqual([
      '205, ip,in_port=eth0,dl_dst=02:00:00:00:00:01,nw_src=172.30.0.3,nw_proto=50, actions=LOCAL',
      '200, ip,in_port=LOCAL,nw_dst=172.30.0.3,nw_proto=50, actions=output:eth0',
    ]);
  });
});

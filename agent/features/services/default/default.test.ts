/** The Kubernetes API and DNS for tenants: routes of networks, flows of the gateway bridge, and what changes with what. */
import { describe, expect, it } from 'vitest';
import { TestCluster } from '../../../testing/cluster.ts';

const API = { ips: ['172.16.1.1', 'fd00:10:96::1'], ports: ['https:TCP/443'] };
const DNS = { ips: ['172.16.1.10'], ports: ['dns:UDP/53', 'dns-tcp:TCP/53'] };
const SERVICE_SUBNETS = { serviceSubnets: '172.16.1.0/24,fd00:10:96::/112' };

interface Where {
  readonly mode?: 'shared' | 'local';
  readonly allowed?: readonly string[];
  readonly vlanId?: number;
}

/** Tenant `red` has a layer-3 network, `green` one of layer 2 of IPv4 alone, and `plain` none. */
const cluster = ({ mode = 'shared', allowed, vlanId = 0 }: Where = {}): TestCluster =>
  new TestCluster('node1', SERVICE_SUBNETS, allowed === undefined ? {} : { allowedDefaultServices: allowed })
    .node('node1', {
      id: 2,
      transit: ['100.88.0.2/16', 'fd97::2/64'],
      subnets: { default: ['10.128.0.0/23'], red_net: ['10.70.0.0/24', 'fd00:70::/64'] },
    })
    .gateway('node1', { mode, vlanId, addresses: ['172.30.0.2/24', 'fd00:172::2/64'], nextHops: ['172.30.0.1'] })
    .namespace('default')
    .namespace('kube-system')
    .namespace('plain')
    .namespace('red', true)
    .namespace('green', true)
    .network('red_net', {
      ...{ id: 1, topology: 'layer3', namespace: 'red', nad: 'net' },
      subnets: ['10.70.0.0/16', 'fd00:70::/48'],
    })
    .network('green_net', {
      ...{ id: 2, topology: 'layer2', namespace: 'green', nad: 'net' },
      subnets: ['10.71.0.0/16'],
      tunnelKeys: [500, 501],
    })
    .service('default/kubernetes', API)
    .service('kube-system/kube-dns', DNS)
    .service('plain/web', { ips: ['172.16.1.99'], ports: ['TCP/80'] });

const OWNER = 'k8s.ovn.org/udn-enabled-default-service';

/** `router prefix → next hop`, sorted. */
const routes = (it: TestCluster): string[] =>
  (it.render().northbound['Logical_Router_Static_Route'] ?? [])
    .filter((row) => JSON.stringify(row['external_ids']).includes(OWNER))
    .map(
      (row) =>
        `${String((row['external_ids'] as Record<string, string>)[OWNER])} ${row['ip_prefix']} ${row['nexthop']}`,
    )
    .sort();
const flows = (it: TestCluster): readonly string[] =>
  (it.render().openflow['br-ex'] ?? []).filter((line) => line.includes('priority=300'));

describe('routes of a network', () => {
  it('lead to each ClusterIP of its families, by its own management port, and to no other Service', () => {
    expect(routes(cluster())).toEqual([
      'default/kubernetes 172.16.1.1 10.70.0.2',
      'default/kubernetes 172.16.1.1 10.71.0.2',
      'default/kubernetes fd00:10:96::1 fd00:70::2',
      'kube-system/kube-dns 172.16.1.10 10.70.0.2',
      'kube-system/kube-dns 172.16.1.10 10.71.0.2',
    ]);
  });

  it('are on the router that the network’s pods are behind', () => {
    const { northbound } = cluster().render();
    const [row] = (northbound['Logical_Router_Static_Route'] ?? []).filter(
      (one) => one['ip_prefix'] === '172.16.1.10' && one['nexthop'] === '10.70.0.2',
    );
    expect(row).toEqual({
      ip_prefix: '172.16.1.10',
      nexthop: '10.70.0.2',
      policy: 'dst-ip',
      external_ids: {
        [OWNER]: 'kube-system/kube-dns',
        'k8s.ovn.org/network': 'red_net',
        'k8s.ovn.org/topology': 'layer3',
        'ovn-udn/key': 'Logical_Router_Static_Route/red_net_ovn_cluster_router/dst-ip/172.16.1.10',
      },
    });
    const holders = (northbound['Logical_Router'] ?? [])
      .filter(({ static_routes: all }) => String(all).includes('/dst-ip/172.16.1.10'))
      .map(({ name }) => name);
    expect(holders).toEqual(['green_net_transit_router', 'red_net_ovn_cluster_router']);
  });

  it('are not needed in local gateway mode, where everything goes by the management port', () => {
    expect(routes(cluster({ mode: 'local' }))).toEqual([]);
  });

  it('and load balancers of the tenants have nothing of these Services', () => {
    const balancers = cluster().render().northbound['Load_Balancer'] ?? [];
    expect(balancers.map(({ name }) => name).sort()).toEqual([
      'Service_default/kubernetes_TCP_cluster',
      'Service_kube-system/kube-dns_TCP_cluster',
      'Service_kube-system/kube-dns_UDP_cluster',
      'Service_plain/web_TCP_cluster',
    ]);
  });
});

describe('flows of the gateway bridge', () => {
  it.each(['shared', 'local'] as const)('let them through to the default network, in %s mode', (mode) => {
    const patch =
      'actions=move:NXM_OF_ETH_DST[]->NXM_OF_ETH_SRC[],set_field:02:00:00:00:00:01->eth_dst,output:patch-br-ex_node1-to-br-int';
    expect(flows(cluster({ mode }))).toEqual([
      `cookie=0xdeff105, table=2, priority=300, ip,nw_dst=172.16.1.1, ${patch}`,
      `cookie=0xdeff105, table=2, priority=300, ip,nw_dst=172.16.1.10, ${patch}`,
      `cookie=0xdeff105, table=2, priority=300, ipv6,ipv6_dst=fd00:10:96::1, ${patch}`,
    ]);
  });

  it('are of the gateway’s VLAN', () => {
    const tagged = 'push_vlan:0x8100,set_field:4103->vlan_vid,output:';
    expect(flows(cluster({ vlanId: 7 })).map((line) => line.includes(tagged))).toEqual([true, true, true]);
  });
});

describe('which Services', () => {
  it('is a setting, which may name none', () => {
    expect(routes(cluster({ allowed: ['plain/web'] }))).toEqual([
      'plain/web 172.16.1.99 10.70.0.2',
      'plain/web 172.16.1.99 10.71.0.2',
    ]);
    const none = cluster({ allowed: [] });
    expect([routes(none), flows(none)]).toEqual([[], []]);
  });

  it('only those of the default network', () => {
    const it = cluster({ allowed: ['red/web', 'nowhere/web'] })
      .service('red/web', { ips: ['172.16.1.50'], ports: ['TCP/80'] })
      .service('nowhere/web', { ips: ['172.16.1.51'], ports: ['TCP/80'] });
    expect([routes(it), flows(it)]).toEqual([[], []]);
  });

  it('only ClusterIPs that something has a route to; the others are reported', () => {
    const it = cluster().service('default/kubernetes', { ...API, ips: ['172.16.1.1', '10.99.0.1'] });
    expect(routes(it).filter((line) => line.includes('10.99.'))).toEqual([]);
    expect(it.render().diagnostics).toContainEqual({
      object: 'Service/default/kubernetes',
      severity: 'warning',
      message: 'tenants cannot reach it at 10.99.0.1: outside the service subnets that this agent is configured with',
    });
  });

  it('renders the routes of each network and the flows once when a ClusterIP changes, and nothing for others', () => {
    const it = cluster();
    it.render();
    it.flushes.length = 0;
    it.service('kube-system/kube-dns', { ...DNS, ips: ['172.16.1.11'] });
    it.engine.flush();
    const forAll = (): string[] =>
      it.flushes
        .flat()
        .filter((owner) => owner.startsWith('default-service-'))
        .toSorted();
    expect(forAll()).toEqual([
      'default-service-flows:',
      'default-service-routes:green_net',
      'default-service-routes:red_net',
    ]);
    it.flushes.length = 0;
    it.service('plain/web', { ips: ['172.16.1.98'], ports: ['TCP/80'] }).slices('kube-system/kube-dns', {
      ports: ['dns:UDP/53'],
      ready: ['10.128.0.5'],
    });
    it.engine.flush();
    expect(it.flushes.flat()).toContain('services:plain/web');
    expect(forAll()).toEqual([]);
  });
});

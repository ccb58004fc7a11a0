/** What of Services is not the same on every node: node ports, traffic policies, hints, endpoints that are the node itself. */
import { describe, expect, it } from 'vitest';
import type { ServiceInput, TestCluster } from '../../../testing/cluster.ts';
import {
  attachmentsOf,
  cluster,
  GATEWAY,
  here,
  http,
  rows,
  scopes,
  there,
  WEB,
  web,
} from '../../../testing/web-service.ts';

describe('addresses from outside, for all endpoints', () => {
  it('are in the load balancer of the ClusterIPs, each once, with the endpoints of its family', () => {
    const it = web(
      {
        ips: ['172.16.1.7', 'fd00:10:96::7'],
        externalIps: ['192.0.2.1', '2001:db8::1'],
        loadBalancerIps: ['192.0.2.9', '192.0.2.1'],
      },
      http({ ready: ['10.128.0.5'] }),
    );
    expect(scopes(it, WEB)).toEqual({
      cluster: {
        '172.16.1.7:80': '10.128.0.5:8080',
        '192.0.2.1:80': '10.128.0.5:8080',
        '192.0.2.9:80': '10.128.0.5:8080',
      },
      cluster_refused: {
        '[fd00:10:96::7]:80': '',
        '[2001:db8::1]:80': '',
      },
    });
  });

  it('are none where the Service has no such family', () => {
    const it = web({ externalIps: ['192.0.2.1', '2001:db8::1'] }, http({ ready: ['10.128.0.5'] }));
    expect(Object.keys(Object(scopes(it, WEB)['cluster']))).toEqual(['172.16.1.7:80', '192.0.2.1:80']);
  });
});

describe('what nobody is behind', () => {
  const ports = ['http:TCP/80@30080', 'none:TCP/81@30081'];

  it('has rows of its own where others are answered: the gateway router leaves its clients their addresses', () => {
    const it = web({ ports }, http({ ready: ['10.128.0.5'] }));
    expect(scopes(it, WEB)).toEqual({
      cluster: { '172.16.1.7:80': '10.128.0.5:8080' },
      cluster_refused: { '172.16.1.7:81': '' },
      'node_router+switch_node1': { '172.30.0.2:30080': '10.128.0.5:8080', '192.168.7.2:30080': '10.128.0.5:8080' },
      'node_router+switch_node1_refused': { '172.30.0.2:30081': '', '192.168.7.2:30081': '' },
    });
    const skips = (scope: string): unknown => Object(optionsOf(it, scope))['skip_snat'];
    expect(skips('cluster')).toBe('false');
    expect(skips('cluster_refused')).toBe('true');
    expect(skips('node_router+switch_node1')).toBe('false');
    expect(skips('node_router+switch_node1_refused')).toBe('true');
    expect(attachmentsOf(it, `${WEB}_cluster_refused`)).toEqual(['clusterLBGroup']);
  });

  it('has none when nothing else is answered, nor where pods ask', () => {
    const it = web({ ports });
    expect(Object.keys(scopes(it, WEB)).sort()).toEqual(['cluster', 'node_router+switch_node1']);
    it.service('plain/web', { ips: ['172.16.1.7'], ports, internalTrafficPolicy: 'Local' });
    it.slices('plain/web', http({ ready: [there('10.128.2.5')] }));
    expect(scopes(it, WEB)['node_switch_node1']).toMatchObject({
      '172.16.1.7:80': '',
      '172.30.0.2:30080': '10.128.2.5:8080',
    });
  });
});

describe('node ports', () => {
  const ports = ['http:TCP/80@30080', 'dns:UDP/53@30053'];

  it('are on every address that the node has, on its switch and its gateway router, for each protocol', () => {
    const it = web({ ports }, http({ ready: ['10.128.0.5'] }));
    expect(scopes(it, WEB)).toEqual({
      cluster: { '172.16.1.7:80': '10.128.0.5:8080' },
      'node_router+switch_node1': { '172.30.0.2:30080': '10.128.0.5:8080', '192.168.7.2:30080': '10.128.0.5:8080' },
    });
    expect(scopes(it, 'Service_plain/web_UDP')['node_router+switch_node1']).toEqual({
      '172.30.0.2:30053': '',
      '192.168.7.2:30053': '',
    });
    expect(attachmentsOf(it, `${WEB}_cluster`)).toEqual(['clusterLBGroup']);
    expect(attachmentsOf(it, `${WEB}_node_router+switch_node1`)).toEqual(['GR_node1', 'node1']);
  });

  it.each([
    ['red', 'red_net_', ['GR_red_net_node1', 'red_net_node1'], '10.70.0.5'],
    ['green', 'green_net_', ['GR_green_net_node1', 'green_net_ovn_layer2_switch'], '10.71.0.5'],
  ])('of %s are on the rows of its own network', (tenant, prefix, own, endpoint) => {
    const key = `${tenant}/web`;
    const it = cluster()
      .service(key, { ips: ['172.16.1.7', 'fd00:10:96::7'], ports: ['http:TCP/80@30080'] })
      .slices(key, http({ ready: [endpoint] }));
    const name = `${prefix}Service_${key}_TCP_node_router+switch_node1`;
    expect(attachmentsOf(it, name)).toEqual(own);
    const vips = (of: string): unknown => rows(it, 'Load_Balancer').find((row) => row['name'] === of)?.['vips'];
    expect(vips(name)).toEqual({
      '172.30.0.2:30080': `${endpoint}:8080`,
      '192.168.7.2:30080': `${endpoint}:8080`,
    });
    expect(attachmentsOf(it, `${name}_refused`)).toEqual(own);
    expect(vips(`${name}_refused`)).toEqual({ '[fd00:172::2]:30080': '' });
  });

  it('follow the addresses of the node, and are none where its gateway has none', () => {
    const it = web({ ports }, http({ ready: ['10.128.0.5'] }));
    const addresses = () => Object.keys(Object(scopes(it, WEB)['node_router+switch_node1']));
    expect(addresses()).toEqual(['172.30.0.2:30080', '192.168.7.2:30080']);
    it.gateway('node1', { ...GATEWAY, hostAddresses: ['10.9.9.9/24'] });
    expect(addresses()).toEqual(['10.9.9.9:30080', '172.30.0.2:30080']);
    const gateway = it.facts.get('gateway', 'node1');
    it.facts.set('gateway', 'node1', gateway && { ...gateway, nodePortEnable: false });
    expect(addresses()).toEqual([]);
    it.facts.set('gateway', 'node1', undefined);
    expect(Object.keys(scopes(it, WEB))).toEqual(['cluster']);
  });

  it('are another row’s business when only one Service, or only the node, changes', () => {
    const it = web({ ports }, http({ ready: ['10.128.0.5'] })).service('plain/other', {
      ips: ['172.16.1.8'],
      ports: ['TCP/80'],
      externalIps: ['192.0.2.1'],
    });
    it.render();
    it.slices('plain/web', http({ ready: ['10.128.0.6'] }));
    it.render();
    // A node port leads to the node itself where it has all endpoints (`PublishedPort`): those two look at them as well.
    const own = ['service-flows:plain/web', 'service-nftables:plain/web', 'services:plain/web'];
    expect(it.flushes.at(-1)?.toSorted()).toEqual(own);
    it.facts.set('hostAddresses', 'node1', []);
    it.render();
    expect(it.flushes.at(-1)?.filter((owner) => owner.startsWith('services:'))).toEqual(['services:plain/web']);
  });
});

const OPTIONS = { reject: 'true', event: 'false', neighbor_responder: 'none', hairpin_snat_ip: '169.254.0.5 fd69::5' };
const optionsOf = (it: TestCluster, scope: string): unknown =>
  rows(it, 'Load_Balancer').find(({ name }) => name === `${WEB}_${scope}`)?.['options'];

describe('externalTrafficPolicy Local', () => {
  const local = {
    externalTrafficPolicy: 'Local',
    ports: ['http:TCP/80@30080'],
    externalIps: ['192.0.2.1'],
    loadBalancerIps: ['192.0.2.9'],
  } as const;

  it('sends what comes from outside to endpoints of the node, with the client’s address, and pods to all', () => {
    const it = web(local, http({ ready: [here('10.128.0.5'), there('10.128.2.5'), '10.128.4.5'] }));
    const all = '10.128.0.5:8080,10.128.2.5:8080,10.128.4.5:8080';
    const outside = {
      '192.0.2.1:80': '10.128.0.5:8080',
      '192.0.2.9:80': '10.128.0.5:8080',
      '172.30.0.2:30080': '10.128.0.5:8080',
      '192.168.7.2:30080': '10.128.0.5:8080',
    };
    expect(scopes(it, WEB)).toEqual({
      cluster: { '172.16.1.7:80': all },
      node_local_router_node1: outside,
      node_switch_node1: {
        ...Object.fromEntries(Object.keys(outside).map((vip) => [vip, all])),
        // Where the host sends what it got at a node port.
        '169.254.0.3:30080': '10.128.0.5:8080',
      },
    });
    expect(attachmentsOf(it, `${WEB}_node_local_router_node1`)).toEqual(['GR_node1']);
    expect(attachmentsOf(it, `${WEB}_node_switch_node1`)).toEqual(['node1']);
    expect(optionsOf(it, 'node_local_router_node1')).toEqual({ ...OPTIONS, skip_snat: 'true' });
    expect(optionsOf(it, 'node_switch_node1')).toEqual({ ...OPTIONS, skip_snat: 'false' });
  });

  it('refuses what comes from outside where the node has none', () => {
    const it = web(local, http({ ready: [there('10.128.2.5')] }));
    expect(scopes(it, WEB)).toMatchObject({
      node_local_router_node1: {
        '192.0.2.1:80': '',
        '192.0.2.9:80': '',
        '172.30.0.2:30080': '',
        '192.168.7.2:30080': '',
      },
      node_switch_node1: { '192.0.2.1:80': '10.128.2.5:8080', '169.254.0.3:30080': '' },
    });
    // Or a reset would come from another address than the one that was called.
    expect(optionsOf(it, 'node_local_router_node1')).toEqual({ ...OPTIONS, skip_snat: 'true' });
  });

  it('has the same rows in the same attachmentsOf with one endpoint on the node, with none, and with none at all', () => {
    const seen = [[here('10.128.0.5'), there('10.128.2.5')], [there('10.128.2.5')], []].map((ready) => {
      const it = web(local, http({ ready }));
      return Object.keys(scopes(it, WEB)).map((scope) => [scope, attachmentsOf(it, `${WEB}_${scope}`)]);
    });
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
  });

  it('is for each port and family', () => {
    const it = web(
      {
        ...local,
        ips: ['172.16.1.7', 'fd00:10:96::7'],
        ports: ['a:TCP/1', 'b:TCP/2'],
        externalIps: ['192.0.2.1', '2001:db8::1'],
        loadBalancerIps: [],
      },
      { ports: ['a:TCP/10'], ready: [here('10.128.0.5')] },
      { ports: ['b:TCP/20'], ready: [there('10.128.2.5')] },
      { ports: ['b:TCP/20'], family: 6, ready: [here('fd00:77::5')] },
    );
    expect(scopes(it, WEB)['node_local_router_node1']).toEqual({
      '192.0.2.1:1': '10.128.0.5:10',
      '192.0.2.1:2': '',
      '[2001:db8::1]:1': '',
      '[2001:db8::1]:2': '[fd00:77::5]:20',
    });
  });

  it('is nothing to a Service that is not reached from outside', () => {
    const it = web({ externalTrafficPolicy: 'Local' }, http({ ready: [there('10.128.2.5')] }));
    expect(scopes(it, WEB)).toEqual({ cluster: { '172.16.1.7:80': '10.128.2.5:8080' } });
  });
});

describe('internalTrafficPolicy Local', () => {
  const service: ServiceInput = {
    ips: ['172.16.1.7'],
    ports: ['http:TCP/80'],
    internalTrafficPolicy: 'Local',
    externalIps: ['192.0.2.1'],
  };
  it.each([
    ['plain', '', 'GR_node1', '10.128.0.5', '10.128.2.5'],
    ['red', 'red_net_', 'GR_red_net_node1', '10.70.0.5', '10.70.2.5'],
  ])(
    'lets pods of %s reach their node’s endpoints at ClusterIPs, and all at other addresses',
    (tenant, prefix, router, near, far) => {
      const it = cluster()
        .service(`${tenant}/web`, service)
        .slices(`${tenant}/web`, http({ ready: [here(near), there(far)] }));
      const all = `${near}:8080,${far}:8080`;
      const name = `${prefix}Service_${tenant}/web_TCP`;
      expect(scopes(it, name)).toEqual({
        node_switch_node1: { '172.16.1.7:80': `${near}:8080`, '192.0.2.1:80': all },
        node_router_node1: { '172.16.1.7:80': all, '192.0.2.1:80': all },
      });
      expect(attachmentsOf(it, `${name}_node_router_node1`)).toEqual([router]);
      it.slices(`${tenant}/web`, http({ ready: [there(far)] }));
      expect(scopes(it, name)['node_switch_node1']).toMatchObject({ '172.16.1.7:80': '' });
    },
  );

  it('needs no gateway', () => {
    const it = web(service, http({ ready: [there('10.128.2.5')] }));
    it.facts.set('gateway', 'node1', undefined);
    expect(scopes(it, WEB)).toEqual({ node_switch_node1: { '172.16.1.7:80': '', '192.0.2.1:80': '10.128.2.5:8080' } });
  });
});

import { describe, expect, it } from 'vitest';
import { parsePort } from '../../../../net/ids.ts';
import { parseIp } from '../../../../net/ip.ts';
import type { TestCluster } from '../../../testing/cluster.ts';
import { serviceCluster } from '../../../testing/service-cluster.ts';

const HTTP = { ips: ['172.16.1.7'], ports: ['http:TCP/80'] };

const rows = (it: TestCluster, table: string) => it.render().northbound[table] ?? [];
const balancer = (it: TestCluster, name: string) => rows(it, 'Load_Balancer').find((row) => row['name'] === name);
const vips = (it: TestCluster, name: string): unknown => balancer(it, name)?.['vips'];
const group = (it: TestCluster, name: string): unknown =>
  rows(it, 'Load_Balancer_Group').find((row) => row['name'] === name)?.['load_balancer'];
const mirror = (network: string) => ({ madeFor: 'primary', network }) as const;

describe('a Service of a tenant', () => {
  it('is a load balancer of its network, with the addresses that its pods have there', () => {
    const it = serviceCluster()
      .service('red/web', { ips: ['172.16.1.7', 'fd00:10:96::7'], ports: ['http:TCP/80', 'TCP/443', 'dns:UDP/53'] })
      .slices(
        'red/web',
        { ...mirror('red_net'), ports: ['http:TCP/8080', 'dns:UDP/53'], ready: ['10.70.0.5', '10.70.3.5'] },
        { ...mirror('red_net'), family: 6, ports: ['http:TCP/8080'], ready: ['fd00:70::5'] },
        { madeFor: 'default', ports: ['http:TCP/8080', 'dns:UDP/53'], ready: ['10.128.0.5'] },
      );
    const ids = {
      'k8s.ovn.org/kind': 'Service',
      'k8s.ovn.org/owner': 'red/web',
      'k8s.ovn.org/network': 'red_net',
      'k8s.ovn.org/role': 'primary',
    };
    const name = 'red_net_Service_red/web_TCP_cluster';
    expect(balancer(it, name)).toEqual({
      name,
      protocol: 'tcp',
      vips: {
        '172.16.1.7:80': '10.70.0.5:8080,10.70.3.5:8080',
        '[fd00:10:96::7]:80': '[fd00:70::5]:8080',
      },
      options: {
        reject: 'true',
        event: 'false',
        skip_snat: 'false',
        neighbor_responder: 'none',
        hairpin_snat_ip: '169.254.0.5 fd69::5',
      },
      external_ids: { ...ids, 'ovn-udn/key': `Load_Balancer/${name}` },
    });
    expect(vips(it, `${name}_refused`)).toEqual({ '172.16.1.7:443': '', '[fd00:10:96::7]:443': '' });
    expect(vips(it, 'red_net_Service_red/web_UDP_cluster')).toEqual({
      '172.16.1.7:53': '10.70.0.5:53,10.70.3.5:53',
    });
    // Whose clients never restart.
    expect(balancer(it, 'red_net_Service_red/web_UDP_cluster')?.['options']).toMatchObject({ ct_flush: 'true' });
    expect(group(it, 'red_net_clusterLBGroup')).toEqual([
      'Load_Balancer/red_net_Service_red/web_TCP_cluster',
      'Load_Balancer/red_net_Service_red/web_TCP_cluster_refused',
      'Load_Balancer/red_net_Service_red/web_UDP_cluster',
      'Load_Balancer/red_net_Service_red/web_UDP_cluster_refused',
    ]);
    expect([group(it, 'clusterLBGroup'), group(it, 'green_net_clusterLBGroup')]).toEqual([undefined, undefined]);
  });

  it('is one on the switch and the gateway of layer 2, too', () => {
    const it = serviceCluster()
      .service('green/web', HTTP)
      .slices('green/web', { ...mirror('green_net'), ports: ['http:TCP/8080'], ready: ['10.71.0.5'] });
    expect(vips(it, 'green_net_Service_green/web_TCP_cluster')).toEqual({ '172.16.1.7:80': '10.71.0.5:8080' });
    const places = (table: string) =>
      rows(it, table)
        .filter((row) => String(row['load_balancer_group']).includes('/green_net_'))
        .map(({ name }) => name);
    expect(places('Logical_Switch')).toEqual(['green_net_ovn_layer2_switch']);
    expect(places('Logical_Router')).toEqual(['GR_green_net_node1']);
  });

  it.each([
    ['of another network', { ready: ['10.71.0.5'] }, ['10.71.0.5']],
    ['of the default network', { ready: ['10.70.0.5'], terminating: ['10.128.0.5'] }, ['10.128.0.5']],
    ['of a node', { ready: ['172.30.0.2', '10.70.0.5', '172.30.0.3'] }, ['172.30.0.2 and 1 more']],
  ])('sends nothing to an address %s, whoever wrote it', (_, addresses, [reported]) => {
    for (const madeBy of [{ madeFor: 'any' } as const, mirror('red_net')]) {
      const it = serviceCluster()
        .service('red/web', HTTP)
        .slices('red/web', { ...madeBy, ports: ['http:TCP/8080'], ...addresses });
      const own = addresses.ready.filter((ip) => ip.startsWith('10.70.')).map((ip) => `${ip}:8080`);
      expect(vips(it, 'red_net_Service_red/web_TCP_cluster')).toEqual({ '172.16.1.7:80': own.join(',') });
      expect(it.render().diagnostics).toContainEqual({
        object: 'Service/red/web',
        severity: 'warning',
        message: `ignoring endpoint ${reported}: not an endpoint address of network red_net`,
      });
    }
  });

  it('of the default network sends nothing to a pod with a primary network, as soon and as long as it is known', () => {
    const it = serviceCluster()
      .namespace('plain')
      .service('plain/web', { ...HTTP, internalTrafficPolicy: 'Local' })
      .slices('plain/web', {
        ports: ['http:TCP/8080'],
        ready: ['10.128.0.4', '10.128.0.5'].map((ip) => ({ ip, node: 'node1' })),
      })
      .service('plain/other', HTTP)
      .slices('plain/other', { ports: ['http:TCP/8080'], ready: ['10.128.0.6'] });
    const isSentTo = (targets: string): void =>
      expect(vips(it, 'Service_plain/web_TCP_node_router+switch_node1')).toEqual({ '172.16.1.7:80': targets });
    isSentTo('10.128.0.4:8080,10.128.0.5:8080');
    const networks = { default: { ips: ['10.128.0.5/23'], role: 'infrastructure-locked' } } as const;
    it.pod('red/a', { node: 'node1', networks, openPorts: [{ protocol: 'tcp', port: parsePort(8080) }] });
    isSentTo('10.128.0.4:8080');
    expect(it.flushes.at(-1)?.filter((owner) => owner.includes('plain/web'))).not.toEqual([]);
    expect(it.flushes.at(-1)?.filter((owner) => owner.includes('plain/other'))).toEqual([]);
    expect(it.render().diagnostics).toContainEqual({
      object: 'Service/plain/web',
      severity: 'warning',
      event: 'EndpointNotAllowed',
      message: 'ignoring endpoint 10.128.0.5: its pod has a primary network, so only Services of that network apply',
    });
    it.pod('red/a', { node: 'node1', networks, finished: true });
    isSentTo('10.128.0.4:8080,10.128.0.5:8080');
  });

  it('sends to nodes where the cluster manager has found host-network pods, and to no other address of theirs', () => {
    const pods = [
      { ip: '172.30.0.2', node: 'node1' },
      { ip: '172.30.0.3', node: 'node2' },
      { ip: '172.30.0.4', node: 'node2' },
      '172.30.0.3',
    ];
    const web = (slice: object) => {
      const it = serviceCluster().service('red/web', HTTP);
      for (const ip of ['172.30.0.2', '172.30.0.3']) it.facts.set('nodeAddress', parseIp(ip), true);
      return it.slices('red/web', { ...slice, ports: ['http:TCP/8080'], ready: pods });
    };
    const mirrored = web(mirror('red_net'));
    expect(vips(mirrored, 'red_net_Service_red/web_TCP_node_router+switch_node1')).toEqual({
      '172.16.1.7:80': '169.254.0.2:8080,172.30.0.3:8080',
    });
    expect(mirrored.render().diagnostics).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('ignoring endpoint 172.30.0.4 and 1 more') }),
    );
    expect(vips(web({ madeFor: 'any' }), 'red_net_Service_red/web_TCP_cluster')).toEqual({ '172.16.1.7:80': '' });
  });

  it('without a selector has slices that somebody has written; mirrors of another network do not count', () => {
    const it = serviceCluster()
      .service('red/web', HTTP)
      .slices(
        'red/web',
        { ports: ['http:TCP/1'], ready: ['10.70.0.5'] },
        { ...mirror('earlier_net'), ports: ['http:TCP/2'], ready: ['10.70.0.6'] },
      );
    expect(vips(it, 'red_net_Service_red/web_TCP_cluster')).toEqual({ '172.16.1.7:80': '10.70.0.5:1' });
  });

  it('waits for its namespace and its network, and goes with them', () => {
    const it = serviceCluster().service('red/web', HTTP);
    const name = 'red_net_Service_red/web_TCP_cluster';
    expect(vips(it, name)).toEqual({ '172.16.1.7:80': '' });
    const primary = it.facts.get('primaryNad', 'red');
    it.facts.set('primaryNad', 'red', undefined);
    expect(rows(it, 'Load_Balancer')).toEqual([]);
    it.facts.set('primaryNad', 'red', primary);
    expect(vips(it, name)).toBeDefined();
    it.facts.set('namespace', 'red', undefined);
    expect(rows(it, 'Load_Balancer')).toEqual([]);
    it.namespace('red', true).facts.set('network', 'red_net', undefined);
    expect(rows(it, 'Load_Balancer')).toEqual([]);
    expect(rows(it, 'Load_Balancer_Group').map(({ name: one }) => one)).toEqual([
      'clusterLBGroup',
      'green_net_clusterLBGroup',
    ]);
  });
});

describe('a Service of the default network', () => {
  const NAME = 'Service_plain/web_TCP_cluster';

  it('is a load balancer there, and nowhere else', () => {
    const it = serviceCluster()
      .service('plain/web', HTTP)
      .slices(
        'plain/web',
        { madeFor: 'default', ports: ['http:TCP/8080'], ready: ['10.128.0.5'] },
        { ...mirror('red_net'), ports: ['http:TCP/8080'], ready: ['10.70.0.5'] },
      );
    expect(vips(it, NAME)).toEqual({ '172.16.1.7:80': '10.128.0.5:8080' });
    expect(balancer(it, NAME)?.['external_ids']).toEqual({
      'k8s.ovn.org/kind': 'Service',
      'k8s.ovn.org/owner': 'plain/web',
      'ovn-udn/key': `Load_Balancer/${NAME}`,
    });
    expect([group(it, 'clusterLBGroup'), group(it, 'red_net_clusterLBGroup')]).toEqual([
      [`Load_Balancer/${NAME}`],
      undefined,
    ]);
  });

  it.each([
    '172.16.1.8',
    '100.64.0.2',
    '100.65.0.2',
    '100.88.0.2',
    '169.254.0.11',
    '127.0.0.1',
    '224.0.0.1',
    '0.0.0.0',
  ])('sends nothing to %s, which is part of how networks are kept apart, or nobody', (ip) => {
    const it = serviceCluster()
      .service('plain/web', HTTP)
      .slices('plain/web', { ports: ['http:TCP/80'], ready: [ip] });
    expect(vips(it, NAME)).toEqual({ '172.16.1.7:80': '' });
    expect(it.render().diagnostics.map(({ object }) => object)).toContain('Service/plain/web');
  });

  it.each([
    [60, { affinity_timeout: '60' }, undefined],
    [86_400, {}, ['ip_dst', 'ip_src']],
    [undefined, {}, undefined],
  ])('keeps clients with their endpoints for %s seconds', (affinitySeconds, options, fields) => {
    const it = serviceCluster().service('plain/web', {
      ...HTTP,
      ...(affinitySeconds !== undefined && { affinitySeconds }),
    });
    const row = balancer(it, NAME);
    expect({ affinity_timeout: undefined, ...(row?.['options'] as object) }).toMatchObject({
      affinity_timeout: undefined,
      ...options,
    });
    expect(row?.['selection_fields']).toEqual(fields);
  });
});

describe('endpoints', () => {
  const NAME = 'Service_plain/web_TCP_cluster';
  const ofWeb = (...slices: Parameters<TestCluster['slices']> extends [string, ...infer Rest] ? Rest : never) =>
    serviceCluster()
      .service('plain/web', { ips: ['172.16.1.7'], ports: ['a:TCP/1', 'b:TCP/2'] })
      .slices('plain/web', ...slices);

  it('that are about to end get connections only when no other is left, for each port', () => {
    const it = ofWeb(
      { ports: ['a:TCP/10'], ready: ['10.128.0.5'], terminating: ['10.128.0.6'] },
      { ports: ['b:TCP/20'], terminating: ['10.128.0.6', '10.128.0.7'] },
    );
    expect(vips(it, NAME)).toEqual({
      '172.16.1.7:1': '10.128.0.5:10',
      '172.16.1.7:2': '10.128.0.6:20,10.128.0.7:20',
    });
  });

  it('may each have another number for a named port, and count once', () => {
    const it = ofWeb(
      { ports: ['a:TCP/10'], ready: ['10.128.0.5', '10.128.0.5'] },
      { ports: ['a:TCP/11'], ready: ['10.128.0.6'] },
      { ports: ['a:TCP/10'], ready: ['10.128.0.5', '10.128.0.7'] },
    );
    expect(vips(it, NAME)).toEqual({
      '172.16.1.7:1': '10.128.0.5:10,10.128.0.6:11,10.128.0.7:10',
    });
    expect(vips(it, `${NAME}_refused`)).toEqual({ '172.16.1.7:2': '' });
  });

  it('are those of the port’s protocol', () => {
    const it = serviceCluster()
      .service('plain/web', { ips: ['172.16.1.7'], ports: ['a:TCP/1', 'a:SCTP/1'] })
      .slices('plain/web', { ports: ['a:SCTP/9'], ready: ['10.128.0.5'] });
    expect(vips(it, NAME)).toEqual({ '172.16.1.7:1': '' });
    expect(balancer(it, 'Service_plain/web_SCTP_cluster')).toMatchObject({
      protocol: 'sctp',
      vips: { '172.16.1.7:1': '10.128.0.5:9' },
    });
  });
});

it('a Service that changes is rendered alone', () => {
  const it = serviceCluster();
  for (const name of ['a', 'b', 'c']) {
    it.service(`plain/${name}`, HTTP).slices(`plain/${name}`, { ports: ['http:TCP/80'], ready: ['10.128.0.5'] });
  }
  it.render();
  it.slices('plain/b', { ports: ['http:TCP/80'], ready: ['10.128.0.5', '10.128.0.6'] });
  it.render();
  expect(it.flushes.at(-1)).toEqual(['services:plain/b']);
  it.facts.set('service', 'plain/c', undefined);
  it.render();
  expect(it.flushes.at(-1)?.filter((owner) => !owner.endsWith(':plain/c'))).toEqual([]);
  expect(rows(it, 'Load_Balancer').map(({ name }) => name)).toEqual([
    'Service_plain/a_TCP_cluster',
    'Service_plain/b_TCP_cluster',
  ]);
});

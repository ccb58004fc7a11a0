import { expect, it } from 'vitest';
import { TestCluster } from '../testing/cluster.ts';
import { reportServices, type ServiceSources } from './service-report.ts';

const cluster = (): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], red_net: ['10.70.0.0/24'] } })
    .namespace('red', true)
    .namespace('late', true)
    .namespace('plain')
    .network('red_net', { id: 1, topology: 'layer3', subnets: ['10.70.0.0/16'], namespace: 'red', nad: 'net' })
    .service('red/web', { ips: ['10.96.0.7'], ports: ['http:TCP/80'], externalIps: ['192.0.2.7'] })
    .slices(
      'red/web',
      { name: 'web-1', madeFor: 'default', ports: ['http:TCP/8080'], ready: ['10.128.0.5'] },
      {
        name: 'web-2',
        madeFor: 'primary',
        network: 'red_net',
        ports: ['http:TCP/8080'],
        ready: ['10.70.0.5', '10.9.9.9'],
      },
    )
    .service('late/web', { ips: ['10.96.0.8'], ports: ['TCP/80'] })
    .service('nowhere/web', { ips: ['10.96.0.9'], ports: ['TCP/80'] });

const sourcesOf = (it: TestCluster, here = true): ServiceSources => {
  it.engine.flush();
  const { facts, settings } = it;
  return {
    facts,
    cluster: settings.cluster,
    isHere: () => here,
    desiredFor: (key) => [it.sinks.northbound.fragments.get(`services:${key}`) ?? {}],
  };
};

const NAME = 'red_net_Service_red/web_TCP_cluster';

it('has the desired state for a Service, and where its endpoints come from', () => {
  expect(reportServices(sourcesOf(cluster()), 'red/web')).toMatchObject([
    {
      namespace: 'red',
      name: 'web',
      network: 'red_net',
      clusterIps: ['10.96.0.7'],
      otherIps: ['192.0.2.7'],
      slices: [
        { name: 'web-1', madeFor: 'default', counts: false, ready: [{ ip: '10.128.0.5' }] },
        { name: 'web-2', madeFor: 'primary', network: 'red_net', counts: true },
      ],
      refused: ['10.9.9.9'],
      loadBalancers: [
        {
          key: `Load_Balancer/${NAME}`,
          name: NAME,
          protocol: 'tcp',
          vips: { '10.96.0.7:80': '10.70.0.5:8080' },
          places: ['Load_Balancer_Group/red_net_clusterLBGroup'],
        },
      ],
    },
  ]);
});

it('finds Services by what they are reached at', () => {
  const named = (vip: string) => reportServices(sourcesOf(cluster()), vip).map((one) => `${one.namespace}/${one.name}`);
  expect(named('10.96.0.7:80')).toEqual(['red/web']);
  expect(named('10.96.0.7:81')).toEqual(['red/web']);
  expect(named('192.0.2.7:80')).toEqual(['red/web']);
  expect(named('10.96.0.77:80')).toEqual([]);
  expect(named('none/none')).toEqual([]);
});

it.each([
  ['red/web', false, 'network red_net is not on this node: unused here'],
  ['red/web', true, undefined],
  ['late/web', true, 'namespace late waits for its primary network'],
  ['nowhere/web', true, 'namespace nowhere is not known'],
])('says why nothing is desired for %s', (key, here, message) => {
  expect(reportServices(sourcesOf(cluster(), here), key)[0]?.message).toBe(message);
});

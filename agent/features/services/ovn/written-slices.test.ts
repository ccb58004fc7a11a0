/** EndpointSlices that somebody writes for a tenant's network, as mirrors are. */
import { expect, it } from 'vitest';
import type { TestCluster } from '../../../testing/cluster.ts';
import { serviceCluster } from '../../../testing/service-cluster.ts';

const byHand = (network: string) => ({ madeFor: 'any', network }) as const;

const vips = (it: TestCluster, name: string): unknown =>
  it.render().northbound['Load_Balancer']?.find((row) => row['name'] === name)?.['vips'];

it('a tenant’s Service has slices that somebody has written for its network, of both families, and none for another', () => {
  const it = serviceCluster()
    .service('red/web', { ips: ['172.16.1.7', 'fd00:10:96::7'], ports: ['http:TCP/80'] })
    .slices(
      'red/web',
      { ...byHand('red_net'), ports: ['http:TCP/1'], ready: ['10.70.0.5', '10.128.0.5'] },
      { ...byHand('red_net'), family: 6, ports: ['http:TCP/1'], ready: ['fd00:70::5', 'fd00:71::5'] },
      { ...byHand('green_net'), ports: ['http:TCP/2'], ready: ['10.70.0.6'] },
      { ...byHand(''), ports: ['http:TCP/3'], ready: ['10.70.0.7'] },
    );
  expect(vips(it, 'red_net_Service_red/web_TCP_cluster')).toEqual({
    '172.16.1.7:80': '10.70.0.5:1',
    '[fd00:10:96::7]:80': '[fd00:70::5]:1',
  });
  it.service('plain/web', { ips: ['172.16.1.7'], ports: ['http:TCP/80'] }).slices('plain/web', {
    ...byHand('red_net'),
    ports: ['http:TCP/1'],
    ready: ['10.128.0.4'],
  });
  expect(vips(it, 'Service_plain/web_TCP_cluster')).toEqual({ '172.16.1.7:80': '' });
});

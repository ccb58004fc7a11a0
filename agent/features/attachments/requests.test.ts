import { expect, it } from 'vitest';
import { TestCluster } from '../../testing/cluster.ts';

const NAD = { id: 2, topology: 'layer2', role: 'secondary', subnets: ['10.30.0.0/16'], namespace: 'plain' } as const;
const IGNORED = [
  { nad: 'plain/flat', message: 'portMappings of plain/flat', refuses: true },
  { nad: 'plain/macvlan', message: 'portMappings of plain/macvlan', refuses: true },
] as const;

const cluster = (): TestCluster =>
  new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'] } })
    .namespace('plain')
    .network('flat', { ...NAD, nad: 'flat' })
    .foreignNad('plain/macvlan');

it('a request that cannot be followed refuses a pod, of networks of ours', () => {
  const of = cluster().pod('plain/a', { node: 'node1', networks: {}, ignored: IGNORED });
  of.render();
  const found = of.sinks.attachments.get('attachments:plain/a');
  expect([found?.refused, found?.ignored]).toEqual(['portMappings of plain/flat', undefined]);
});

it('a host-network pod, which has no ADD, is told', () => {
  const of = cluster().pod('plain/a', { node: 'node1', networks: {}, hostNetwork: true, ignored: IGNORED });
  of.render();
  expect(of.engine.diagnostics.get('attachments:plain/a')).toMatchObject([
    { message: 'portMappings of plain/flat', event: 'RequestIgnored' },
  ]);
});

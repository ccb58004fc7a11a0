/** What a pod that selects networks of other plugins gets of them. */
import { expect, it } from 'vitest';
import { parseForeignPlugins } from '../../../api/foreign-plugins.ts';
import { TestCluster } from '../../testing/cluster.ts';

const LAN = { type: 'bridge', ipam: { type: 'host-local' }, capabilities: { ips: true, mac: true } };

const found = (selects: string, { allowed = 'bridge,host-local', settings = {}, config = LAN as object } = {}) => {
  const it = new TestCluster('node1', settings, { foreignPlugins: parseForeignPlugins(allowed) })
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'] } })
    .namespace('red')
    .foreignNad('red/lan', config)
    .foreignNad('blue/lan', LAN)
    .foreignNad('default/lan', LAN)
    .network('red_flat', {
      ...{ id: 20, topology: 'layer2', role: 'secondary', subnets: ['10.90.0.0/24'], namespace: 'red', nad: 'flat' },
    })
    .pod('red/a', { node: 'node1', networks: {}, selects });
  it.facts.set('foreignNad', 'red/broken', { unreadable: 'spec.config: is empty' });
  it.render();
  return it.sinks.attachments.get('attachments:red/a');
};

it('is attached to them in their order, behind its own', () => {
  const attachments = found('lan,flat,lan@second,default/lan');
  expect(attachments?.attachments.map(({ nadKey, index }) => [nadKey, index])).toEqual([
    ['default', 0],
    ['red/flat', 2],
  ]);
  expect(attachments?.foreign?.map(({ nadKey, interfaceName }) => [nadKey, interfaceName])).toEqual([
    ['red/lan', 'net1'],
    ['red/lan/1', 'second'],
    ['default/lan', 'net4'],
  ]);
});

it.each([
  ['broken', 'red/broken as net1: spec.config: is empty'],
  ['blue/lan', 'blue/lan as net1: network lan is not for namespace red: use a NetworkAttachmentDefinition of it'],
  [
    '[{"name":"lan","portMappings":[{"hostPort":1,"containerPort":1}]}]',
    'red/lan as net1: portMappings: no plugin of the network has the capability portMappings',
  ],
  [
    '[{"name":"lan","bandwidth":{"ingressRate":1}}]',
    'red/lan as net1: bandwidth: no plugin of the network has the capability bandwidth',
  ],
  [
    '[{"name":"lan","infiniband-guid":"24:8a:07:03:00:8d:ae:2f"}]',
    'red/lan as net1: infiniband-guid: no plugin of the network has the capability infinibandGUID',
  ],
  [
    '[{"name":"lan","ipam-claim-reference":"c"}]',
    'red/lan as net1: ipam-claim-reference: only networks of ovn-udn have persistent addresses',
  ],
])('is refused what nobody can follow: %s', (selects, message) => {
  expect(found(selects)).toMatchObject({ refused: message });
  expect(found(selects)?.foreign).toBeUndefined();
});

it('is refused plugins that the node does not run', () => {
  expect(found('lan', { allowed: '' })?.refused).toContain(
    'red/lan as net1: plugin bridge is not in --foreign-plugins',
  );
});

it('may be on those of all namespaces where the cluster opens them', () => {
  const settings = { crossNamespaceAttachments: 'true' };
  expect(found('blue/lan', { settings })?.foreign).toMatchObject([{ nadKey: 'blue/lan' }]);
});

it('a key that nobody knows is told, as no plugin gets it', () => {
  const at = new TestCluster('node1')
    .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'] } })
    .namespace('red')
    .foreignNad('red/lan', LAN);
  at.pod('red/a', {
    ...{ node: 'node1', networks: {} },
    ignored: [
      { nad: 'red/lan', message: '"ip" is unknown and ignored', isUnknown: true },
      { nad: 'red/lan', message: 'bandwidth has no effect' },
    ],
  });
  at.render();
  expect(at.sinks.attachments.get('attachments:red/a')?.ignored).toEqual(['"ip" is unknown and ignored']);
});

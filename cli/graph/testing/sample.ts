/** A cluster with something of everything, and something broken, for tests and for the picture of docs/udnctl.md. */
import { SLICE_MIRROR_CONTROLLER } from '../../../api/names.ts';
import { layer2Udn, layer3Udn, tenant } from '../../../cluster-manager/testing/objects.ts';
import {
  condition,
  DEFAULT_ENTRY,
  entry,
  ids,
  nadOf,
  settledNetwork,
  settledNode,
  settledPod,
} from '../../why/testing/objects.ts';

type Fields = Readonly<Record<string, unknown>>;

const onNode = (object: ReturnType<typeof settledPod>, nodeName: string) => ({
  ...object,
  spec: { ...(object['spec'] as Fields), nodeName },
});

const service = (key: string, ip: string, metadata: Fields = {}) => {
  const [namespace, name] = key.split('/');
  return {
    ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name, ...metadata } },
    spec: { type: 'ClusterIP', clusterIPs: [ip], ports: [{ name: 'http', port: 80 }] },
  };
};

const mirror = (key: string, network: string, addresses: readonly string[]) => {
  const [namespace, name] = key.split('/');
  return {
    ...{ apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', addressType: 'IPv4' },
    metadata: {
      ...{ namespace, name: `${name}-m` },
      labels: {
        'k8s.ovn.org/service-name': name,
        'endpointslice.kubernetes.io/managed-by': SLICE_MIRROR_CONTROLLER,
      },
      annotations: { 'k8s.ovn.org/endpointslice-network': network },
    },
    endpoints: addresses.map((address) => ({ addresses: [address] })),
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
  };
};

const shop = settledNetwork(layer3Udn('shop/net', ['10.100.0.0/16']));
const bank = settledNetwork(layer2Udn('bank/net', ['10.200.0.0/24']), {
  conditions: [
    condition('NetworkCreated'),
    condition('NetworkAllocationSucceeded'),
    condition('Ready', 'False', 'one node cannot program the network'),
  ],
});

const podOf = (key: string, node: string, address: string) => {
  const nadKey = `${key.split('/')[0]}/net`;
  const attached = { ...(entry(nadKey, address)[nadKey] as Fields), gateway_ips: [address.replace(/\d+\/\d+$/, '1')] };
  return onNode(settledPod(key, { ...DEFAULT_ENTRY, [nadKey]: attached }), node);
};

export const SAMPLE: readonly unknown[] = [
  ...[tenant('shop'), tenant('bank'), shop, bank],
  nadOf(shop, 'shop', { topology: 'layer3', subnets: '10.100.0.0/16/24' }, { annotations: ids('shop_net', 1) }),
  nadOf(bank, 'bank', { subnets: '10.200.0.0/24' }, { annotations: ids('bank_net', 2) }),
  settledNode('node-1', { shop_net: ['10.100.0.0/24'] }),
  settledNode('node-2', { shop_net: ['10.100.1.0/24'] }),
  {
    ...settledNode('node-3', { shop_net: ['10.100.2.0/24'] }),
    status: { conditions: [{ type: 'Ready', status: 'False' }] },
  },
  podOf('shop/web-0', 'node-1', '10.100.0.4/24'),
  podOf('shop/web-1', 'node-2', '10.100.1.4/24'),
  onNode(settledPod('shop/cart', DEFAULT_ENTRY), 'node-2'),
  podOf('shop/web-2', 'node-3', '10.100.2.4/24'),
  podOf('bank/ledger', 'node-1', '10.200.0.4/24'),
  service('shop/web', '10.96.0.10'),
  mirror('shop/web', 'shop_net', ['10.100.0.4', '10.100.1.4']),
  service('shop/cart', '10.96.0.11'),
  service('bank/ledger', '10.96.0.20'),
  mirror('bank/ledger', 'bank_net', ['10.200.0.4']),
];

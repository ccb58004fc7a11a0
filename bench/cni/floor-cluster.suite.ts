/** A node with a pod on the default network and on a primary one. */
import { TestCluster } from '../../agent/testing/cluster.ts';

export const cluster = new TestCluster('node1')
  .node('node1', { id: 2, subnets: { default: ['10.128.0.0/23'], red_net: ['10.20.1.0/24'] } })
  .namespace('red', true)
  .network('red_net', { id: 1, topology: 'layer3', subnets: ['10.20.0.0/16'], namespace: 'red', nad: 'net' })
  .pod('red/a', {
    node: 'node1',
    networks: {
      default: { ips: ['10.128.0.4/23'], role: 'infrastructure-locked' },
      'red/net': { ips: ['10.20.1.3/24'], role: 'primary' },
    },
  });
cluster.render();
const [found] = cluster.sinks.attachments.values();
if (found === undefined) throw new Error('no pod');
export const pod = found;

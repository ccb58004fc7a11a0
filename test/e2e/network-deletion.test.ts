/** Nothing is left of networks that are deleted, and nobody else notices. Needs root and `make build`. */
import { beforeAll } from 'vitest';
import { applyAndWait, useCluster } from './support/cluster/cluster.ts';
import { layer3, namespace, pod } from './support/cluster/manifests.ts';
import { cutOffNode } from './support/networks/cut-off-node.ts';
import { networkDeletion } from './support/networks/network-deletion.ts';

const cluster = useCluster({ name: 'test-deletion' });

beforeAll(() =>
  applyAndWait(cluster(), [
    namespace('stays'),
    layer3('stays', 'net', ['10.80.0.0/16/24', 'fd00:80::/48/64']),
    pod('stays', 'a', 'node-1'),
    pod('stays', 'b', 'node-2'),
  ]),
);

networkDeletion(cluster, { stays: { from: 'stays/a', to: 'stays/b' }, many: 20, hasMarks: true });

cutOffNode(cluster);

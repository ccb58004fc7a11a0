import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NODE_ANNOTATIONS } from '../../api/names.ts';
import { createTestCluster, type TestCluster } from '../../cluster-manager/testing/harness.ts';
import { layer2Udn, layer3Udn, node, pod, tenant } from '../../cluster-manager/testing/objects.ts';
import { examineCluster } from '../commands/cluster-doctor.ts';

describe('of a cluster manager that runs', () => {
  let cluster: TestCluster;
  beforeEach(async () => {
    cluster = await createTestCluster();
    cluster.start();
  });
  afterEach(() => cluster.close());

  it('nothing is wrong, before and after a restart; what somebody writes over is found', async () => {
    await cluster.create(node('n1'), node('n2'), tenant('red'), tenant('blue'));
    await cluster.create(layer2Udn('red/net', ['10.1.0.0/16']), layer3Udn('blue/net', ['10.2.0.0/16']));
    await cluster.createAndSettle(pod('red/a'), pod('red/b'), pod('blue/a'));
    const well = await examineCluster(cluster.client, 0);
    expect([well.exitStatus, well.lines]).toEqual([
      0,
      ['no problems: 2 networks, 2 NADs, 2 nodes and 3 pods were checked'],
    ]);
    await cluster.stop();
    cluster.start();
    await cluster.settled();
    expect((await examineCluster(cluster.client, 0)).exitStatus).toBe(0);
    await cluster.stop();
    await cluster.patch('Node', 'n2', { metadata: { annotations: { [NODE_ANNOTATIONS.id]: '2' } } });
    const { lines, exitStatus } = await examineCluster(cluster.client, 0);
    expect([exitStatus, lines[0]]).toEqual([
      1,
      'node-id: Node/n1, Node/n2: node id 2 is allocated to both node n1 and node n2',
    ]);
  });
});

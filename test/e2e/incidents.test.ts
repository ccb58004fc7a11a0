/**
 * Twelve things that go wrong in clusters, one after the other: within a minute the first line of `udnctl problems`, `why` or `explain` names the
 * root cause, and is gone when it is mended. They are asked on this machine by a kubeconfig, and the node by exec into the pod of its
 * agent. docs/operations.md has their output, from `npm run record:incidents`. Needs root and `make build`.
 */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { NODE_NETWORK_REPORTS } from '../../api/resources.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { incidentsOfApi } from './incidents/api.case.ts';
import { incidentsOfDaemons } from './incidents/daemons.case.ts';
import { incidentOfDatabase } from './incidents/database.case.ts';
import { incidentsOfNode } from './incidents/node.case.ts';
import { NODE, operatorOf } from './incidents/operator.ts';
import { agentPod, PROGRAMS } from './support/cluster/agent-pod.ts';
import { applyAndWait, useCluster } from './support/cluster/cluster.ts';
import { layer2, layer3, namespace, plainNamespace, pod } from './support/cluster/manifests.ts';

const cluster = useCluster({ name: 'test-incidents', kubelet: 'real' });
const operator = operatorOf(cluster);

beforeAll(async () => {
  await applyAndWait(cluster(), [
    ...[plainNamespace(PROGRAMS), agentPod(NODE)],
    namespace('red'),
    layer3('red', 'net', ['10.91.0.0/16/24', 'fd00:91::/48/64']),
    pod('red', 'a', NODE),
    namespace('blue'),
    layer2('blue', 'net', ['10.92.0.0/16', 'fd00:92::/64']),
    pod('blue', 'a', NODE),
  ]);
  // An agent is only missed that has reported, a second or two after its first pods.
  const client = await cluster().client();
  await eventually(async () =>
    expect(await client.get(NODE_NETWORK_REPORTS, { name: NODE })).toHaveProperty('status.renewTime'),
  );
});

describe('on the node', () => incidentsOfNode(operator));
describe('daemons of OVN', () => incidentsOfDaemons(operator));
describe('the disk of Open_vSwitch', () => incidentOfDatabase(operator));
describe('in the API', () => incidentsOfApi(operator));
afterAll(() => operator.recorder.save());

/** Who may do what, docs/security.md: tried on a real API server with everybody's own credentials. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { eventually } from '../conformance/kube/harness.ts';
import { agentCases } from './admission/agent.case.ts';
import { type AdmissionCluster, startAdmissionCluster } from './admission/cluster.ts';
import { clusterManagerCases } from './admission/cluster-manager.case.ts';
import { networkStatusCases } from './admission/network-status.case.ts';
import { otherCases } from './admission/others.case.ts';
import { reportCases } from './admission/reports.case.ts';
import { tenantCases } from './admission/tenant.case.ts';

let cluster: AdmissionCluster;
beforeAll(async () => {
  cluster = await startAdmissionCluster('test-admission');
}, 120_000);
afterAll(() => cluster?.close());

const policies = z.object({
  items: z.array(
    z.object({
      metadata: z.object({ name: z.string() }),
      status: z.object({
        typeChecking: z.object({ expressionWarnings: z.array(z.object({ warning: z.string() })).default([]) }),
      }),
    }),
  ),
});

it('the API server finds nothing wrong in the expressions of the policies', async () => {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies';
  const { items } = await eventually(async () => policies.parse(await cluster.admin.request({ method: 'GET', path })));
  expect(items).not.toHaveLength(0);
  expect(items.filter(({ status }) => status.typeChecking.expressionWarnings.length > 0)).toEqual([]);
});

describe('agents', () => agentCases(() => cluster));
describe('network-status of pods, which agents write', () => networkStatusCases(() => cluster));
describe('reports of nodes', () => reportCases(() => cluster));
describe('the cluster manager', () => clusterManagerCases(() => cluster));
describe('tenants', () => tenantCases(() => cluster));
describe('everybody else', () => otherCases(() => cluster));

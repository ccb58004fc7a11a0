import { expect, it } from 'vitest';
import type { SpecResult, SuiteReport } from './ginkgo-report.ts';
import { countsOf, type Run, withResults } from './page.ts';

const BASIC = '[sig-network] Services should serve a basic endpoint from pods [Conformance]';
const HAIRPIN = '[sig-network] Services should allow pods to hairpin';
const ZONES = '[sig-network] Traffic Distribution when Services are used';
const POLICY = '[sig-network] Netpol NetworkPolicy should deny';
const result = (name: string, outcome: SpecResult['outcome'], more: Partial<SpecResult> = {}): SpecResult => ({
  ...{ name, outcome, message: '', attempts: 1, seconds: 3 },
  ...more,
});
const report = (...specs: SpecResult[]): SuiteReport => ({ specs, seconds: 720, failures: [] });

const RUN: Run = {
  ...{ version: 'v1.36.3', commit: 'abc', nodes: 3, datapath: 'the userspace', processors: 2 },
  known: [{ spec: HAIRPIN, suites: ['layer3', 'layer2'], reason: 'tenants on the userspace datapath have no hairpin' }],
  reports: {
    default: report(
      result(BASIC, 'passed', { attempts: 2 }),
      result(HAIRPIN, 'passed'),
      result(ZONES, 'skipped', { message: 'need at least 3 zones\nmore' }),
      result(POLICY, 'not run', { attempts: 0 }),
      result('[sig-node] Pods', 'not run'),
    ),
    layer3: report(result(BASIC, 'passed'), result(HAIRPIN, 'failed', { message: '\ntimed | out' })),
    layer2: report(result(BASIC, 'failed', { message: '\ntimed | out' }), result(HAIRPIN, 'failed')),
  },
};

const PAGE = 'before\n<!-- results: written by `make conformance` -->\nold\n<!-- end of results -->\nafter\n';

it('has numbers, reasons, and a row per spec', () => {
  expect(withResults(PAGE, RUN).replaceAll(/ +\|/g, ' |').replaceAll(/-{3,}/g, '---')).toMatchInlineSnapshot(`
    "before
    <!-- results: written by \`make conformance\` -->

    Kubernetes v1.36.3, commit abc, 3 nodes with the userspace datapath, on 2 processors.

    | suite | passed | of them at the second attempt | failed | interrupted | not started | skipped by themselves | minutes |
    | --- | --- | --- | --- | --- | --- | --- | --- |
    | Default network | 2 | 1 | 0 | 0 | 0 | 1 | 12 |
    | Layer-3 tenants | 1 | 0 | 1 | 0 | 0 | 0 | 12 |
    | Layer-2 tenants | 0 | 0 | 2 | 0 | 0 | 0 | 12 |

    ### Failures

    | spec | where | why |
    | --- | --- | --- |
    | Services should allow pods to hairpin | Layer-3 tenants, Layer-2 tenants | tenants on the userspace datapath have no hairpin |
    | Services should serve a basic endpoint from pods \\[Conformance\\] | Layer-2 tenants | not listed: timed \\| out |

    ### Specs that skipped themselves

    | spec | what it says |
    | --- | --- |
    | Traffic Distribution when Services are used | need at least 3 zones |

    ### Specs that are not run

    | specs that … | number |
    | --- | --- |
    | NetworkPolicies: ovn-udn enforces none | 1 |
    | need the load balancer of a cloud | 0 |
    | need a certain cloud | 0 |
    | need the Internet | 0 |
    | need a kernel with SCTP | 0 |
    | measure performance | 0 |
    | of kube-proxy, which ovn-udn replaces | 0 |
    | need an API server that reaches pods: that of the sandbox is on no node | 0 |
    | change the configuration of a DNS server that kubeadm has deployed | 0 |

    ### All specs

    | spec | default network | layer-3 tenants | layer-2 tenants |
    | --- | --- | --- | --- |
    | Services should allow pods to hairpin | passed | **failed** | **failed** |
    | Services should serve a basic endpoint from pods \\[Conformance\\] | passed at the second attempt | passed | **failed** |
    | Traffic Distribution when Services are used | skipped | – | – |

    <!-- end of results -->
    after
    "
  `);
});

it('takes the place of the results before, and of nothing else', () => {
  const once = withResults(PAGE, RUN);
  expect(once).toMatch(/^before\n/);
  expect(once).toMatch(/\nafter\n$/);
  expect(once).not.toContain('old');
  expect(withResults(once, RUN)).toBe(once);
  expect(() => withResults('no place', RUN)).toThrow('no place for results');
});

it('leaves out a suite that was not run', () => {
  const { default: report } = RUN.reports;
  const page = withResults(PAGE, { ...RUN, reports: { ...(report && { default: report }) } });
  expect(page).toContain('| Default network');
  expect(page).not.toContain('| Layer-3 tenants');
  expect(page).toContain('Not run: layer-3 tenants, layer-2 tenants.');
});

it('counts specs for which there was no time', () => {
  const report = { specs: [result(BASIC, 'not run'), result(POLICY, 'not run')], seconds: 60, failures: [] };
  const page = withResults(PAGE, { ...RUN, reports: { default: report } });
  expect(page.replaceAll(/ +\|/g, ' |')).toContain('| Default network | 0 | 0 | 0 | 0 | 1 | 0 | 1 |');
});

it('counts in one line', () => {
  expect(RUN.reports.default && countsOf(RUN.reports.default)).toBe(
    '2 passed, 0 failed, 0 interrupted, 1 skipped, in 12 minutes',
  );
});

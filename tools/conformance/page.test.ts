import { expect, it } from 'vitest';
import type { SpecResult, SuiteReport } from './ginkgo-report.ts';
import { countsOf, type KeptPart, type Run, withResults } from './page.ts';

const BASIC = '[sig-network] Services should serve a basic endpoint from pods [Conformance]';
const HAIRPIN = '[sig-network] Services should allow pods to hairpin';
const ZONES = '[sig-network] Traffic Distribution when Services are used';
const POLICY = '[sig-network] Netpol NetworkPolicy should deny';
const result = (name: string, outcome: SpecResult['outcome'], more: Partial<SpecResult> = {}): SpecResult => ({
  ...{ name, outcome, message: '', attempts: 1, seconds: 3 },
  ...more,
});
const report = (...specs: SpecResult[]): SuiteReport => ({ specs, seconds: 720, failures: [] });

const part = (of: SuiteReport, started = '2026-01-02T03:04:05.678Z'): KeptPart => ({
  facts: {
    ...{ version: 'v1.36.3', commit: 'abc', started, nodes: 3, kernel: 'own', datapath: 'userspace' },
    ...{ processors: 2, processes: 4 },
  },
  report: of,
});

const DEFAULT = report(
  result(BASIC, 'passed', { attempts: 2 }),
  result(HAIRPIN, 'passed'),
  result(ZONES, 'skipped', { message: 'need at least 3 zones\nmore' }),
  result(POLICY, 'not run', { attempts: 0 }),
  result('[sig-node] Pods', 'not run'),
);
const RUN: Run = {
  known: [{ spec: HAIRPIN, suites: ['layer3', 'layer2'], reason: 'tenants on the userspace datapath have no hairpin' }],
  parts: {
    default: [part(DEFAULT)],
    layer3: [
      part(report(result(BASIC, 'interrupted'), result(HAIRPIN, 'failed', { message: '\ntimed | out' }))),
      part(report(result(BASIC, 'passed'), result(HAIRPIN, 'not run')), '2026-01-02T05:00:00.000Z'),
    ],
    policies: [part(report(result(POLICY, 'passed'), result(BASIC, 'not run')))],
    layer2: [part(report(result(BASIC, 'failed', { message: '\ntimed | out' }), result(HAIRPIN, 'failed')))],
  },
};

const PAGE = 'before\n<!-- results: written by `make conformance` -->\nold\n<!-- end of results -->\nafter\n';

it('has numbers, reasons, and a row per spec', () => {
  expect(withResults(PAGE, RUN).replaceAll(/ +\|/g, ' |').replaceAll(/-{3,}/g, '---')).toMatchInlineSnapshot(`
    "before
    <!-- results: written by \`make conformance\` -->

    | suite | passed | at the second attempt | in a later run | failed | interrupted | skipped by themselves | not started |
    | --- | --- | --- | --- | --- | --- | --- | --- |
    | Default network | 2 | 1 | 0 | 0 | 0 | 1 | 0 |
    | Layer-3 tenants | 1 | 0 | 1 | 1 | 0 | 0 | 0 |
    | Layer-2 tenants | 0 | 0 | 0 | 2 | 0 | 0 | 0 |
    | Policies on the default network | 1 | 0 | 0 | 0 | 0 | 0 | 0 |

    Not run: policies of administrators, v1alpha1, policies of administrators, v1alpha2, cyclonus on the default network, IPv4, policies on a layer-3 network, policies on a layer-2 network, cyclonus on a layer-3 network, IPv4, cyclonus on a layer-2 network, IPv6.

    ### Runs

    | suite | began (UTC) | Kubernetes | commit | nodes | kernel | datapath | processors | specs | minutes |
    | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
    | Default network | 2026-01-02 03:04 | v1.36.3 | abc | 3 | own | userspace | 2 | 3 | 12 |
    | Layer-3 tenants | 2026-01-02 03:04 | v1.36.3 | abc | 3 | own | userspace | 2 | 2 | 12 |
    | Layer-3 tenants | 2026-01-02 05:00 | v1.36.3 | abc | 3 | own | userspace | 2 | 1 | 12 |
    | Layer-2 tenants | 2026-01-02 03:04 | v1.36.3 | abc | 3 | own | userspace | 2 | 2 | 12 |
    | Policies on the default network | 2026-01-02 03:04 | v1.36.3 | abc | 3 | own | userspace | 2 | 1 | 12 |

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

    Of the suite of the default network.

    | specs that … | number |
    | --- | --- |
    | need the load balancer of a cloud | 0 |
    | need a certain cloud | 0 |
    | need the Internet | 0 |
    | need a kernel with SCTP | 0 |
    | measure performance | 0 |
    | of kube-proxy, which ovn-udn replaces | 0 |
    | change the configuration of a DNS server that kubeadm has deployed | 0 |
    | NetworkPolicies: suites of their own | 1 |

    ### All specs: Services, DNS and the rest

    | spec | default network | layer-3 tenants | layer-2 tenants |
    | --- | --- | --- | --- |
    | Services should allow pods to hairpin | passed | **failed** | **failed** |
    | Services should serve a basic endpoint from pods \\[Conformance\\] | passed at the second attempt | passed in a later run | **failed** |
    | Traffic Distribution when Services are used | skipped | – | – |

    ### All specs: Policies

    | spec | policies on the default network | policies on a layer-3 network | policies on a layer-2 network |
    | --- | --- | --- | --- |
    | Netpol NetworkPolicy should deny | passed | – | – |

    ### All specs: Policies of administrators

    None was run.

    ### All specs: Policies that cyclonus generates

    None was run.

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
  const page = withResults(PAGE, { ...RUN, parts: { default: [part(DEFAULT)] } });
  expect(page).toContain('| Default network');
  expect(page).not.toContain('| Layer-3 tenants');
  expect(page).toContain('Not run: layer-3 tenants, layer-2 tenants, policies on the default network,');
});

it('counts specs for which there was no time', () => {
  const left = report(result(BASIC, 'not run'), result(POLICY, 'not run'));
  const page = withResults(PAGE, { ...RUN, parts: { default: [part(left)] } });
  expect(page.replaceAll(/ +\|/g, ' |')).toContain('| Default network | 0 | 0 | 0 | 0 | 0 | 0 | 1 |');
});

it('counts in one line', () => {
  expect(countsOf(DEFAULT)).toBe('2 passed, 0 failed, 0 interrupted, 1 skipped, in 12 minutes');
});

/** The same objects that a real API server is asked about in test/integration/network-crds.test.ts, read offline. */
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { crdFiles } from '../../../api/crd/crds.ts';
import type { NetworkKind } from '../../conformance/networks/cases.ts';
import { INVALID, UPDATES, VALID } from '../../conformance/networks/index.ts';
import { offlineRefusal, readOffline } from '../../conformance/networks/offline.ts';

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message: string }[];
}

const rulesBelow = (node: Node): { rule: string; message: string }[] => [
  ...(node['x-kubernetes-validations'] ?? []),
  ...Object.values(node.properties ?? {}).flatMap(rulesBelow),
  ...(node.items === undefined ? [] : rulesBelow(node.items)),
];

const rulesOf = (kind: NetworkKind) => {
  const crd = Object.values(crdFiles())
    .map((text) => parse(text))
    .find(({ spec }) => spec.names.kind === kind);
  return rulesBelow(crd.spec.versions[0].schema.openAPIV3Schema);
};

const KINDS: readonly NetworkKind[] = ['UserDefinedNetwork', 'ClusterUserDefinedNetwork'];
const MESSAGES: ReadonlySet<string> = new Set(KINDS.flatMap(rulesOf).map(({ message }) => message));
/** The rule whose message the case has, in full or its beginning. */
const ruleOf = (message: string): string | undefined => [...MESSAGES].find((one) => one.startsWith(message));

describe('a network that is read offline', () => {
  it.each(INVALID)('is refused where an API server does: $name', ({ kind, spec, field, message }) => {
    const error = offlineRefusal({ kind, spec });
    const rule = ruleOf(message);
    // The words of a schema's own refusals are the server's; those of rules are ours.
    if (rule !== undefined) expect(error?.message).toContain(rule);
    expect(error?.field).toBe(field);
  });

  it.each(VALID)('is taken: $name', (one) => {
    expect(readOffline(one)).toHaveProperty('spec');
  });
});

describe.each(KINDS)('the cases of %s', (kind) => {
  it('have every rule of its CRD', () => {
    const knownMessages = [
      ...INVALID.filter((one) => one.kind === kind).map(({ message }) => message),
      ...UPDATES.filter((one) => one.kind === kind).flatMap(({ refusal }) => refusal?.message ?? []),
    ].map(ruleOf);
    const unreported = rulesOf(kind).filter(({ message }) => !knownMessages.includes(message));
    expect(unreported).toEqual([]);
  });
});

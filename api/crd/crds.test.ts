import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { crdFiles } from './crds.ts';
import { toStructural } from './structural.ts';

interface Node {
  readonly type?: string;
  readonly properties?: Record<string, Node>;
  readonly items?: Node;
  readonly additionalProperties?: Node;
  readonly 'x-kubernetes-validations'?: { rule: string; message: string }[];
  readonly [key: string]: unknown;
}

const definitions = Object.values(crdFiles()).map((text) => parse(text));
const schemas: [string, Node][] = definitions.map((crd) => [
  crd.spec.names.kind,
  crd.spec.versions[0].schema.openAPIV3Schema,
]);

const nodes = (node: Node): Node[] => [
  node,
  ...Object.values(node.properties ?? {}).flatMap(nodes),
  ...(node.items === undefined ? [] : nodes(node.items)),
  ...(node.additionalProperties === undefined ? [] : nodes(node.additionalProperties)),
];

const rules = (schema: Node): string[] =>
  nodes(schema).flatMap((node) => (node['x-kubernetes-validations'] ?? []).map(({ message }) => message));

describe('CRDs', () => {
  it('are named as their kinds are', () => {
    expect(definitions.map((crd) => crd.metadata.name)).toEqual([
      'userdefinednetworks.k8s.ovn.org',
      'clusteruserdefinednetworks.k8s.ovn.org',
      'network-attachment-definitions.k8s.cni.cncf.io',
      'ipamclaims.k8s.cni.cncf.io',
      'nodenetworkreports.k8s.ovn.org',
      'networkidpools.k8s.ovn.org',
      'egressfirewalls.k8s.ovn.org',
    ]);
    expect(definitions.map((crd) => crd.spec.names.shortNames)).toEqual([
      ['udn'],
      ['cudn'],
      ['net-attach-def'],
      undefined,
      ['nnr'],
      undefined,
      undefined,
    ]);
  });

  it.each(schemas)('%s is structural', (_kind, schema) => {
    for (const node of nodes(schema)) {
      expect(node.type).toMatch(/^(object|array|string|integer|boolean)$/);
      for (const word of ['oneOf', 'anyOf', 'allOf', 'not', '$ref', 'nullable']) expect(node).not.toHaveProperty(word);
      if (node.properties !== undefined) expect(node).not.toHaveProperty('additionalProperties');
      if (node.type === 'array') expect(node).toHaveProperty('x-kubernetes-list-type');
    }
  });

  it.each(schemas)('%s describes every field', (_kind, schema) => {
    const undescribed = (node: Node, path: string): string[] =>
      Object.entries(node.properties ?? {}).flatMap(([name, inner]) => [
        ...(inner['description'] === undefined ? [`${path}.${name}`] : []),
        ...undescribed(inner, `${path}.${name}`),
        ...(inner.items === undefined ? [] : undescribed(inner.items, `${path}.${name}[]`)),
      ]);
    // An API server adds those of all objects.
    expect(undescribed(schema, '').filter((path) => !/^\.(apiVersion|kind|metadata)$/.test(path))).toEqual([]);
  });

  /** An API server takes such a schema, and then refuses every object that has the field. */
  it.each(schemas)('%s has bounds within the formats of its numbers', (_kind, schema) => {
    for (const node of nodes(schema).filter(({ format }) => format === 'int32')) {
      expect(node['minimum']).toBeGreaterThanOrEqual(-(2 ** 31));
      expect(node['maximum']).toBeLessThan(2 ** 31);
    }
  });

  it('have the rules of the reference, with its messages', () => {
    expect(rules(schemas[0]![1])).toEqual(
      expect.arrayContaining([
        'Topology is immutable',
        'Layer2 is immutable',
        'Subnets is immutable for Secondary role',
        'Removing existing subnets is not allowed',
        'hostSubnet is immutable',
        'CIDR is invalid',
        'reservedSubnets must be a masked network address (no host bits set)',
      ]),
    );
    expect(rules(schemas[1]![1])).toEqual(
      expect.arrayContaining([
        'uplinks is immutable',
        'Transport is immutable',
        'NoOverlay is immutable',
        'Localnet is immutable',
        'macVRF and ipVRF must use different VNIs',
        'RT must contain exactly one colon',
      ]),
    );
  });

  it('are refused while they are generated when no API server would take them', () => {
    expect(() => toStructural(z.object({ a: z.union([z.string(), z.number()]) }))).toThrow('.a: ');
    expect(() => toStructural(z.object({ a: z.string().meta({ examples: ['x'] }) }))).toThrow(
      '.a: unexpected examples',
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serviceItems } from '../cluster/service-rows.ts';
import { graphTarget } from '../commands/graph.ts';
import { scene } from '../why/testing/objects.ts';
import { type Box, clusterGraph, type Graph, isBroken } from './graph.ts';
import { escaped, mermaidOf } from './mermaid.ts';
import { svgOf, xml } from './svg.ts';
import { SAMPLE } from './testing/sample.ts';

const seen = scene(SAMPLE);
const graphOf = (options: Parameters<typeof clusterGraph>[2] = {}): Graph =>
  clusterGraph(seen, serviceItems(seen), options);

const show = ({ kind, lines, broken }: Box): string =>
  `${kind} ${lines.join(' ')}${broken === undefined ? '' : ` ✗ ${broken}`}`;
const outline = ({ networks }: Graph): string[] =>
  networks.flatMap(({ network, services, nodes }) => [
    show(network),
    ...services.map((box) => `  ${show(box)}`),
    ...nodes.flatMap(({ node, gateway, pods }) => [
      `  ${show(node)}`,
      ...[...(gateway === undefined ? [] : [gateway]), ...pods].map((box) => `    ${show(box)}`),
    ]),
  ]);

describe('a graph', () => {
  it('has of each network what is attached to it, and says what is broken', () => {
    expect(outline(graphOf())).toMatchInlineSnapshot(`
      [
        "network udn bank/net layer2 primary 10.200.0.0/24 ✗ UserDefinedNetwork bank/net is not ready: its condition Ready: one node cannot program the network",
        "  service bank/ledger 10.96.0.20",
        "  node node-1",
        "    gateway gateway 10.200.0.1",
        "    pod bank/ledger 10.200.0.4",
        "  node node-2",
        "  node node-3 ✗ the Node is not ready",
        "network udn shop/net layer3 primary 10.100.0.0/16",
        "  service shop/cart 10.96.0.11 ✗ no ready endpoint",
        "  service shop/web 10.96.0.10",
        "  node node-1 10.100.0.0/24",
        "    gateway gateway 10.100.0.1",
        "    pod shop/web-0 10.100.0.4",
        "  node node-2 10.100.1.0/24",
        "    gateway gateway 10.100.1.1",
        "    pod shop/cart ✗ pod shop/cart has no address of network shop_net from the agent of node node-2",
        "    pod shop/web-1 10.100.1.4",
        "  node node-3 10.100.2.0/24 ✗ the Node is not ready",
        "    gateway gateway 10.100.2.1 ✗ the Node is not ready",
        "    pod shop/web-2 10.100.2.4 ✗ node node-3 is not ready",
      ]
    `);
  });

  it('may be of one network, by each of its names', () => {
    for (const network of ['shop_net', 'udn shop/net', 'shop/net']) {
      expect(graphOf({ network }).networks.map(({ network: { lines } }) => lines[0])).toEqual(['udn shop/net']);
    }
    expect(graphOf({ network: 'nothing' }).networks).toEqual([]);
  });

  it('is bounded: what is broken is shown first, the rest is counted', () => {
    const limits = { networks: 1, services: 1, nodes: 1, pods: 1 };
    const graph = graphOf({ limits });
    expect(graph.networks).toHaveLength(1);
    expect(graph.networks.every(isBroken)).toBe(true);
    expect(graph.notes).toEqual(['1 more networks, 1 not working']);
    const shop = graphOf({ network: 'shop_net', limits });
    expect(
      outline(shop)
        .filter((line) => line.includes('more'))
        .map((line) => line.trim()),
    ).toEqual(['more 1 more Services', 'more 1 more pods', 'more 2 more nodes ✗ 1 not working']);
    expect(outline(shop)).not.toContain('  node node-1 10.100.0.0/24');
    expect(outline(shop).at(-2)).toBe('    more 1 more pods');
  });
});

describe('a node is broken', () => {
  const now = new Date(seen.now - 10_000).toISOString();
  const report = (name: string, status: object = {}) => ({
    ...{ kind: 'NodeNetworkReport', metadata: { name, uid: name } },
    status: {
      ...{ rendering: 'Always', networks: { ready: 1, pending: 0, failed: 0 } },
      ...{ ids: { ready: '0-9', pending: '', failed: '' }, failedComponents: [] },
      ...{ renewTime: now, leaseDurationSeconds: 40, ...status },
    },
  });
  const first = (said: object): string | undefined => {
    const reported = scene([...SAMPLE, said, report('node-2')]);
    const { networks } = clusterGraph(reported, [], { network: 'shop_net' });
    return networks[0]?.nodes.find(({ node }) => node.lines[0] === 'node-1')?.node.broken;
  };

  it('whose agent is silent or reports a component that fails', () => {
    const failedComponents = [{ component: 'ovn-controller', message: 'ovn-controller hangs', since: now }];
    expect(first(report('node-1'))).toBeUndefined();
    expect(first(report('node-1', { failedComponents }))).toBe('ovn-controller hangs');
    expect(first(report('node-1', { renewTime: '2026-01-01T00:00:00Z' }))).toMatch(/does not renew its report/);
    expect(first(report('node-3'))).toBe('no udn-agent has reported from this node');
  });
});

describe('a picture', () => {
  it('is the one of docs/udnctl.md', async () => {
    await expect(svgOf(graphOf())).toMatchFileSnapshot('../../docs/images/graph.svg');
  });

  it('as Mermaid', () => {
    expect(mermaidOf(graphOf({ network: 'bank_net' }))).toMatchInlineSnapshot(`
      "flowchart LR
        subgraph s0["udn bank/net"]
          n0(["udn bank/net<br/>layer2 primary<br/>10.200.0.0/24<br/>UserDefinedNetwork bank/net is not ready: its condition Ready: one node cannot program the network"]):::broken
          n1{{"bank/ledger<br/>10.96.0.20"}}
          n1 --> n0
          n2["node-1"]
          n0 --- n2
          n3[/"gateway<br/>10.200.0.1"/]
          n2 -.-> n3
          n4("bank/ledger<br/>10.200.0.4")
          n2 --- n4
          n5["node-2"]
          n0 --- n5
          n6["node-3<br/>the Node is not ready"]:::broken
          n0 --- n6
        end
        classDef broken fill:#fde8e8,stroke:#c81e1e,color:#771d1d
      "
    `);
  });

  it('of nothing says so', () => {
    expect(svgOf({ networks: [], notes: [] })).toContain('>no networks</text>');
    expect(mermaidOf({ networks: [], notes: [] })).toMatch(/^flowchart LR\n/);
  });
});

/** Names as an attacker would have them, among any others. */
const HOSTILE = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    ...['</text><script>alert(1)</script>', '"]\n  click n0 "javascript:alert(1)"', '<img src=x onerror=alert(1)>'],
    ...[']]>', '&lt;', '#quot;', 'end', '`**b**`', '%%{init: {}}%%', '\u2028', '\ud800', '\u0000'],
  ),
);
const BOX = fc.record({
  kind: fc.constantFrom(...(['network', 'service', 'node', 'pod', 'more'] as const)),
  lines: fc.array(HOSTILE, { minLength: 1, maxLength: 3 }),
  broken: fc.option(HOSTILE, { nil: undefined }),
});
const GRAPH: fc.Arbitrary<Graph> = fc.record({
  networks: fc.array(
    fc.record({
      network: BOX,
      services: fc.array(BOX, { maxLength: 2 }),
      nodes: fc.array(
        fc.record({ node: BOX, gateway: fc.option(BOX, { nil: undefined }), pods: fc.array(BOX, { maxLength: 2 }) }),
        { maxLength: 2 },
      ),
    }),
    { maxLength: 2 },
  ),
  notes: fc.array(HOSTILE, { maxLength: 2 }),
});

describe('text of others', () => {
  it('is never more than text in an SVG', () => {
    const element = /<(\/?)(svg|title|style|rect|g|text|path)((?: [a-zA-Z-]+="[^"<&]*")*)(\/?)>/g;
    fc.assert(
      fc.property(GRAPH, (graph) => {
        const svg = svgOf(graph);
        const open: string[] = [];
        for (const [, end, name = '', attributes = '', empty] of svg.matchAll(element)) {
          expect(attributes).not.toMatch(/ (on\w+|href|style)=/);
          if (end === '/') expect(open.pop()).toBe(name);
          else if (empty !== '/') open.push(name);
        }
        expect(open).toEqual([]);
        const texts = svg.replaceAll(element, '');
        expect(texts).not.toMatch(/[<>]|&(?!(?:amp|lt|gt|quot|#39);)/);
        expect(svg.replaceAll(/[\n\t]/g, '')).not.toMatch(/\p{Cc}(?<![\u007f-\u009f])|\p{Surrogate}|[\ufffe\uffff]/u);
      }),
    );
  });

  it('is whole again when it is read from an SVG', () => {
    const read = (content: string) =>
      content.replaceAll(
        /&(amp|lt|gt|quot|#39);/g,
        (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name] ?? '',
      );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (content) => {
        expect(read(xml(content))).toBe(content);
      }),
    );
  });

  it('is never more than a label in Mermaid', () => {
    const label = '"(?:[\\p{L}\\p{N} .,:/@()-]|#\\d+;|<br/>)*"';
    const id = 'n\\d+';
    const line = new RegExp(
      [
        'flowchart LR|  end|  classDef broken [a-z0-9:,#]+',
        `  subgraph s\\d+\\[${label}\\]`,
        `    ${id}(?:\\(\\[|\\{\\{|\\[/|\\[|\\()${label}(?:\\]\\)|\\}\\}|/\\]|\\]|\\))(?::::broken)?`,
        `    ${id} (?:-->|---|-\\.->) ${id}`,
      ]
        .map((one) => `^(?:${one})$`)
        .join('|'),
      'u',
    );
    fc.assert(
      fc.property(GRAPH, (graph) => {
        for (const one of mermaidOf(graph).trimEnd().split('\n')) expect(one).toMatch(line);
      }),
    );
  });

  it('is whole again when Mermaid reads it', () => {
    const read = (content: string) => content.replaceAll(/#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme-ascii' }), (content) => {
        expect(read(escaped(content))).toBe(content);
      }),
    );
  });
});

it('-o is a format, or a file that says which', () => {
  expect(graphTarget('svg')).toEqual({ format: 'svg', file: undefined });
  expect(graphTarget('mermaid')).toEqual({ format: 'mermaid', file: undefined });
  expect(graphTarget('a/b.svg')).toEqual({ format: 'svg', file: 'a/b.svg' });
  expect(graphTarget('b.mmd')).toEqual({ format: 'mermaid', file: 'b.mmd' });
  expect(() => graphTarget('b.png')).toThrow('is not svg, mermaid, or a file');
});

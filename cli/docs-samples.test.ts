/** The samples of docs/udnctl.md have the shape and the counts of what is rendered now: for the demo, on node-1. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { FLOW_PRIORITIES } from '../agent/model/registry/openflow.ts';
import { listNetworks } from './commands/networks.ts';
import { listPods } from './commands/pods.ts';
import { type RenderOutput, render } from './commands/render.ts';
import { clusterFromSettings } from './commands/render-settings.ts';
import { parseManifests } from './input/manifests.ts';

const root = join(import.meta.dirname, '..');
const docs = readFileSync(join(root, 'docs', 'udnctl.md'), 'utf8');

const MANIFESTS = ['1-layer3-tenants', '2-layer2-tenants', '3-shared-network', '4-default-network'] as const;
const node = (name: string, addresses: readonly string[]) => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name },
  status: { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) },
});
const NODES = [node('node-1', ['172.20.0.11', 'fd00:172:20::b']), node('node-2', ['172.20.0.12', 'fd00:172:20::c'])];
const SETTINGS = [
  'clusterSubnets=10.128.0.0/14/23,fd00:10:128::/48/64',
  'serviceSubnets=10.96.0.0/16,fd00:10:96::/112',
];

/** @param without a namespace: its network, and its pods */
const renderDemo = (without?: string): RenderOutput => {
  const manifests = MANIFESTS.flatMap((name) => {
    const path = join(root, 'examples', 'demo', `${name}.yaml`);
    return parseManifests(readFileSync(path, 'utf8'), path).objects;
  }) as { readonly metadata: { readonly name: string; readonly namespace?: string } }[];
  const objects = manifests.filter(({ metadata }) => (metadata.namespace ?? metadata.name) !== without);
  return render({ objects: [...NODES, ...objects], node: 'node-1', cluster: clusterFromSettings(SETTINGS) });
};

/** How many there are of each kind, as `explain network` names them. */
const countsOf = (output: RenderOutput): Map<string, number> => {
  const ofRows = (['northbound', 'openvswitch'] as const).flatMap((database) =>
    Object.entries(output[database]).map(([table, rows]) => [`${database} ${table}`, rows.length] as const),
  );
  const ofHost = (
    [
      ['link', output.links],
      ['address', output.addresses],
      ['route', output.routes],
      ['rule', output.rules],
      ['neighbour', output.neighbours],
      ['filter', output.filters],
      ['sysctl', Object.keys(output.sysctls)],
    ] as const
  ).map(([kind, items]) => [`host ${kind}`, items.length] as const);
  const flows = Object.values(output.openflow).flat();
  return new Map([...ofRows, ...ofHost, ['openflow flow', flows.length]]);
};

/** What there is more when the tenant `red` is there. */
const difference = (all: ReadonlyMap<string, number>, without: ReadonlyMap<string, number>): Map<string, number> =>
  new Map([...all].map(([kind, count]) => [kind, count - (without.get(kind) ?? 0)]));

/** By table and priority. */
const flowPositions = ({ openflow }: RenderOutput): Map<string, number> => {
  const positions = (openflow['br-ex'] ?? []).map((flow) => {
    const [, table, priority] = /\btable=([0-9]+),.*?priority=([0-9]+)/.exec(flow) ?? [];
    return `${table} ${priority}`;
  });
  return new Map(
    [...Map.groupBy(positions, (position) => position)].map(([position, { length }]) => [position, length]),
  );
};

/** Lines of the sample of a command, up to the next one. */
const sample = (command: string): string[] => {
  const lines = docs.split('\n');
  const start = lines.indexOf(`$ ${command}`);
  expect(start, `there is a sample of ${command}`).toBeGreaterThan(0);
  const end = lines.findIndex((line, index) => index > start && /^(```|\$ )/.test(line));
  return lines.slice(start + 1, end);
};

let all: RenderOutput;
let withoutRed: RenderOutput;
beforeAll(() => {
  all = renderDemo();
  withoutRed = renderDemo('red');
});

describe('explain network', () => {
  it('has the counts of each kind', () => {
    const counts = difference(countsOf(all), countsOf(withoutRed));
    const shown = sample('udnctl explain network red/red').flatMap((line) => {
      const [, kind = '', count] =
        /^ {2}\S+ +((?:host|northbound|openvswitch|openflow) \S+) +([0-9]+) /.exec(line) ?? [];
      return count === undefined || !counts.has(kind) ? [] : [[kind, Number(count)] as const];
    });
    expect(shown).toEqual(shown.map(([kind]) => [kind, counts.get(kind)]));
    const expected = [...counts].filter(([, count]) => count > 0).map(([kind]) => kind);
    expect(shown.map(([kind]) => kind).sort()).toEqual(expected.sort());
  });

  it('has the flows of the gateway bridge', () => {
    const count = difference(countsOf(all), countsOf(withoutRed)).get('openflow flow');
    expect(sample('udnctl explain network red/red').join('\n')).toContain(` ${count} on br-ex, `);
  });
});

describe('flows --summary', () => {
  const lines = (): string[] => sample('udnctl flows --network red/red --summary');

  it('has the switches and routers of the network', () => {
    const names = (['Logical_Switch', 'Logical_Router'] as const).flatMap((table) =>
      (all.northbound[table] ?? []).map((row) => String(row['name'])),
    );
    const before = new Set(
      (['Logical_Switch', 'Logical_Router'] as const).flatMap((table) =>
        (withoutRed.northbound[table] ?? []).map((row) => String(row['name'])),
      ),
    );
    const shown = lines().flatMap((line) => /^(\S+) +(?:switch|router) +[0-9]+ +[0-9]+ +[0-9]+$/.exec(line)?.[1] ?? []);
    expect(shown.sort()).toEqual(names.filter((name) => !before.has(name)).sort());
  });

  it('has the places of the pipeline, how many flows are there, and what for', () => {
    const positions = difference(flowPositions(all), flowPositions(withoutRed));
    const shown = lines().flatMap((line) => {
      const [, table, priority, count, purpose = ''] =
        /^red_red +([0-9]+) +([0-9]+) +([0-9]+) +[0-9]+ +(.+)$/.exec(line) ?? [];
      return count === undefined ? [] : [{ position: `${table} ${priority}`, count: Number(count), purpose }];
    });
    expect(new Map(shown.map(({ position, count }) => [position, count]))).toEqual(
      new Map([...positions].filter(([, count]) => count > 0)),
    );
    const purposes = new Set<string>(
      Object.values(FLOW_PRIORITIES).flatMap((ranks) => Object.values(ranks).map((rank) => rank.purpose)),
    );
    expect(shown.map(({ purpose }) => purpose).filter((purpose) => !purposes.has(purpose))).toEqual([]);
  });
});

it('tables have the columns that are printed', async () => {
  const none = { networks: async () => [], pods: async () => [] };
  const heads = [
    ['udnctl networks', await listNetworks(none)],
    ['udnctl pods --network red/red', await listPods(none, {})],
  ] as const;
  for (const [command, { tables }] of heads) {
    expect(
      sample(command)[0]
        ?.split(/ {2,}| (?=THIS|STATE|ID)/)
        .map((word) => word.trim()),
    ).toEqual(tables[0]?.head);
  }
});

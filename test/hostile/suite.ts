/** The batteries as tests: one for each source. Call it where tests are declared. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../sandbox/index.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { attack, type Outcome, type Violation } from './battery.ts';
import { casesOf } from './cases.ts';
import { NODE } from './cast.ts';
import type { Cell } from './cells.ts';
import { markedControl, protocolControls } from './controls.ts';
import { isHonest } from './dimensions/claims.ts';
import { findAttacker, isLocked, SOURCES, type SourceName } from './dimensions/sources.ts';
import { nodeOracle } from './oracle.ts';
import { planOf } from './plan.ts';
import { portsWithoutFilters } from './ports-without-filters.ts';
import { withProvenKeys } from './proven-keys.ts';
import { setUp } from './set-up.ts';
import { DEFAULT_TENANT, footholdOf, type World } from './world.ts';

/** At 10,000 frames in 20 s, and a guest is six times slower. */
const TIMEOUT_MS = 1_800_000;

/** @returns what gives the world, once tests run */
export interface HostileOptions {
  /** Management ports lead into networks. */
  readonly hasVrfs?: boolean;
}

export const hostileSuite = (cluster: () => Sandbox, { hasVrfs = false }: HostileOptions = {}): (() => World) => {
  const plan = planOf(process.env);
  let world: World | undefined;
  let cells: readonly Cell[] = [];
  const known = (): World => {
    if (world === undefined) throw new Error('the cast is not there');
    return world;
  };

  beforeAll(async () => {
    cells = plan.cells();
    world = await withProvenKeys(cluster(), await setUp(cluster()));
  });

  it('a node believes what comes out of a tunnel, so that it matters who can send into one', () => {
    const keys = known().tunnelKeys.map(({ pod, isLocked }) => `${pod.split('/')[0]}${isLocked ? ' locked' : ''}`);
    for (const kind of [['red', 'blue', 'twin'], ['green', 'gold'], ['plain'], ['red locked', 'green locked']]) {
      expect(
        kind.some((one) => keys.includes(one)),
        kind.join(' or '),
      ).toBe(true);
    }
  });

  it('what a process sends into a tunnel lacks a mark, and nothing else', { timeout: TIMEOUT_MS }, async () => {
    const controls = known().tunnelKeys.map((key) => markedControl(known(), key));
    expect((await attack(cluster(), known(), [], controls)).unproved).toEqual([]);
  });

  it(
    'what packet sockets send into ports of the host is stopped by their filters, which come back',
    {
      timeout: TIMEOUT_MS,
    },
    () => portsWithoutFilters(cluster(), known(), hasVrfs),
  );

  describe(`frames of every kind to every entry point (${plan.name})`, () => {
    it.each(SOURCES)('%s', { timeout: TIMEOUT_MS }, async (source) => {
      const outcome = await attackFrom(cluster(), known(), source, cells);
      expect(outcome.unproved).toEqual([]);
      expect(outcome.violations.length, describeViolations(outcome.violations)).toBe(0);
      expect(outcome.sent).toBeGreaterThan(10);
    });
  });
  it('locked interfaces hear nothing of each other while ovn-controller starts again', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const isNeighbourly = ({ source, protocol, hop, claim }: Cell): boolean =>
      isLocked(source) &&
      /neighbour|router|mld|arp/.test(protocol.name) &&
      ['target', 'group'].includes(hop) &&
      isHonest(claim);
    const own = casesOf(known(), cells.filter(isNeighbourly));
    let isOver = false;
    const attacked = attack(cluster(), known(), own, [], () => !isOver);
    await cluster().kill(NODE, 'ovn-controller', 'SIGKILL');
    await eventually(async () => expect(await controllerStatus(cluster())).toBe('connected'), 60_000);
    isOver = true;
    const { violations, unproved, sent } = await attacked;
    expect(unproved).toEqual([]);
    expect(violations.length, describeViolations(violations)).toBe(0);
    expect(sent).toBeGreaterThan(40);
  });

  describe('sockets of the node', () => nodeOracle(cluster, { hasVrfs }));
  return known;
};

const SHOWN = 60;

/** A case each, with all who heard it. */
const describeViolations = (violations: readonly Violation[]): string => {
  const lines = [...Map.groupBy(violations, ({ id }) => id)].map(
    ([id, heard]) => `${id}: heard at ${heard.map((one) => one.heard).join('; ')}`,
  );
  const more = lines.length > SHOWN ? [`… and ${lines.length - SHOWN} more`] : [];
  return [`${lines.length} cases were heard where nobody may hear them:`, ...lines.slice(0, SHOWN), ...more].join('\n');
};

/** ovn-controller(8): whether it has what the southbound database says. */
const controllerStatus = async (sandbox: Sandbox): Promise<string> =>
  (await sandbox.node(NODE, ['ovn-appctl', '-t', 'ovn-controller', 'connection-status'])).stdout.trim();

/** With its controls; those of locked interfaces are of their neighbours in the default network. */
const attackFrom = async (
  sandbox: Sandbox,
  world: World,
  source: SourceName,
  cells: readonly Cell[],
): Promise<Outcome> => {
  const own = cells.filter((cell) => cell.source === source);
  const attacker = findAttacker(world, source);
  const insider = findAttacker(world, 'pod of the default network');
  const isInDefault = attacker.peer?.pod === footholdOf(world, `${DEFAULT_TENANT}/a`).pod;
  const controls = protocolControls(isInDefault ? insider : attacker);
  return await attack(sandbox, world, casesOf(world, own), controls);
};

/** Sends cases, with controls between them, and says who heard what nobody may hear. */
import type { Sandbox } from '../../../sandbox/index.ts';
import type { HostileCase, Shot } from './cases.ts';
import { PODS } from './cast.ts';
import { complaintAbout } from './complaints.ts';
import { beatOf, type Control } from './controls.ts';
import { listen, type Sighting } from './wire/listener.ts';
import { markerOf, newRun } from './wire/marker.ts';
import { sendShots } from './wire/sender.ts';
import type { World } from './world.ts';

export interface Violation {
  /** Of the case. */
  readonly id: string;
  /** Of the case: a part of a packet. */
  readonly isFragment: boolean;
  /** Where it was heard, and what is wrong with it. */
  readonly heard: string;
}

export interface Outcome {
  readonly violations: readonly Violation[];
  /** Controls that nobody heard, and cases that did not even get to the node: nothing is proved of them. */
  readonly unproved: readonly string[];
  readonly sent: number;
}

/** After so many attacks one control. */
const CHUNK = 48;
/** What is proved is not sent again: only who waits for a neighbour needs many. */
const ROUNDS = 16;
/** For what is on its way when everything that is waited for has come. */
const SETTLE_MS = 300;

interface Marked {
  readonly index: number;
  readonly shot: Shot;
  readonly place: string;
  readonly uid: number | undefined;
  /** True when it has been heard where it has to be. Undefined: nobody has to. */
  readonly isProof: ((sighting: Sighting) => boolean) | undefined;
  readonly id: string;
}

/** A chunk is sent again until all of it is proved. */
type Chunk = readonly Marked[];

/** @param isUnderWay so long as it says so, everything is sent again and again */
export const attack = async (
  sandbox: Sandbox,
  world: World,
  cases: readonly HostileCase[],
  controls: readonly Control[],
  isUnderWay: () => boolean = () => false,
): Promise<Outcome> => {
  const run = newRun();
  const byIndex = new Map<number, HostileCase>();
  const chunks = chunksOf(run, world, cases, controls, byIndex);
  const sightings: Sighting[] = [];
  const proved = new Set<number>();
  const awaited = new Map(
    chunks.flat().flatMap((one) => (one.isProof === undefined ? [] : [[one.index, one.isProof] as const])),
  );
  const hosts = ['outside', ...world.nodes.map(({ name }) => name)];
  {
    await using listener = await listen(sandbox, run, hosts, PODS);
    const hear = async (): Promise<void> => {
      for (const one of await listener.hear()) {
        if (awaited.get(one.index)?.(one) === true) proved.add(one.index);
        if (byIndex.has(one.index)) sightings.push(one);
      }
    };
    const isPending = (chunk: Chunk): boolean => chunk.some(({ index }) => awaited.has(index) && !proved.has(index));
    while (isUnderWay()) await sendAll(sandbox, chunks.flat());
    for (let round = 0; round < ROUNDS && chunks.some(isPending); round++) {
      await sendAll(sandbox, chunks.filter(isPending).flat());
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      await hear();
    }
  }
  const violations = sightings.flatMap((sighting) => violationOf(world, byIndex.get(sighting.index), sighting) ?? []);
  const unproved = chunks.flat().filter(({ index }) => awaited.has(index) && !proved.has(index));
  return { violations: distinct(violations), unproved: unproved.map(({ id }) => id), sent: cases.length };
};

const chunksOf = (
  run: string,
  world: World,
  cases: readonly HostileCase[],
  controls: readonly Control[],
  byIndex: Map<number, HostileCase>,
): readonly Chunk[] => {
  let next = 0;
  const markControl = (control: Control): Marked => {
    const index = next++;
    const { place, uid, heardAt, id } = control;
    const isProof = (sighting: Sighting): boolean => sighting.place === heardAt && !sighting.isOutgoing;
    return { index, id, shot: control.shoot(markerOf(run, index)), place, uid, isProof };
  };
  const markCase = (one: HostileCase): Marked => {
    const index = next++;
    byIndex.set(index, one);
    const { place, uid, link } = one.attacker;
    const isProof =
      link?.nodeDevice === undefined
        ? undefined
        : ({ device, isOutgoing }: Sighting) => device === link.nodeDevice && !isOutgoing;
    return { index, id: one.id, shot: one.shoot(markerOf(run, index)), place, uid, isProof };
  };
  return [
    ...inChunks(controls).map((some) => some.map(markControl)),
    ...[...Map.groupBy(cases, ({ attacker: { name } }) => name).values()].flatMap((own) =>
      inChunks(own).map((some) => {
        const beats = some.slice(0, 1).map(({ attacker }) => beatOf(world, attacker));
        return [...beats.map(markControl), ...some.map(markCase), ...beats.map(markControl)];
      }),
    ),
  ];
};

const inChunks = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, index) =>
    items.slice(CHUNK * index, CHUNK * (index + 1)),
  );

/** One program per place and user, one after the other: together they would be too much for the datapath. */
const sendAll = async (sandbox: Sandbox, marked: readonly Marked[]): Promise<void> => {
  const bySender = Map.groupBy(marked, ({ place, uid }) => `${place} ${uid}`);
  for (const own of bySender.values()) {
    const [first] = own;
    if (first !== undefined)
      await sendShots(
        sandbox,
        first,
        own.map(({ shot }) => shot),
      );
  }
};

const violationOf = (world: World, one: HostileCase | undefined, sighting: Sighting): Violation | undefined => {
  const complaint = one === undefined ? undefined : complaintAbout(world, one, sighting);
  if (one === undefined || complaint === undefined) return undefined;
  const isFragment = /fragment/.test(`${one.cell.protocol.name} ${one.cell.encapsulation}`);
  return { id: one.id, isFragment, heard: `${sighting.place} ${sighting.device}: ${complaint}` };
};

const distinct = (violations: readonly Violation[]): readonly Violation[] => [
  ...new Map(violations.map((one) => [`${one.id} ${one.heard}`, one])).values(),
];

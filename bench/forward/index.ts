/**
 * Packets from pods to a host outside: through a tenant's network, against the default network and against a bridge without
 * OVN, on one kernel.
 */
import { FAMILIES, type Family } from '../../net/ip.ts';
import { shareGuest } from '../../sandbox/guest/shared.ts';
import { takeTurns } from '../alternate.ts';
import type { BenchContext } from '../context.ts';
import { type BenchResult, benchResult } from '../report/result.ts';
import { median, percentile } from '../statistics.ts';
import { type ForwardCluster, type GatewayMode, SENDERS, type Sender, startForwardCluster } from './cluster.ts';
import type { Measurement } from './measurement.ts';

const MODES: readonly GatewayMode[] = ['shared', 'local'];
const ROUNDS = 4;
/** Of 32 packets. */
const BATCHES = 250;
const ROUND_TRIPS = 100;

interface Variant {
  readonly mode: GatewayMode;
  readonly family: Family;
}
const VARIANTS: readonly Variant[] = MODES.flatMap((mode) => FAMILIES.map((family) => ({ mode, family })));

const REFERENCES = ['default', 'normal'] as const;
type Reference = (typeof REFERENCES)[number];

interface Quantity {
  readonly name: string;
  readonly against: readonly Reference[];
  readonly of: (measurements: readonly Measurement[]) => number;
}

const roundTripsOf = (all: readonly Measurement[]): number[] => all.flatMap(({ roundTrips }) => roundTrips);

const QUANTITIES: readonly Quantity[] = [
  { name: '', against: REFERENCES, of: (all) => median(all.flatMap(({ packets }) => packets)) },
  { name: 'latency', against: REFERENCES, of: (all) => median(roundTripsOf(all)) },
  { name: 'latency-p99', against: ['default'], of: (all) => percentile(roundTripsOf(all), 99) },
];

/** What is common is not named: shared gateway mode, IPv4, time per packet. */
const nameOf = (reference: Reference, { mode, family }: Variant, quantity: Quantity): string => {
  const what = [mode === 'shared' ? '' : mode, family === 4 ? '' : 'ipv6', quantity.name].filter((word) => word !== '');
  return [`forward/udn-vs-${reference}`, ...(what.length === 0 ? [] : [what.join('-')])].join('/');
};

export const FORWARD_NAMES: readonly string[] = VARIANTS.flatMap((variant) =>
  QUANTITIES.flatMap((quantity) => quantity.against.map((reference) => nameOf(reference, variant, quantity))),
);

/** One after the other: two clusters on the machine would be in each other's way. */
export const benchForward = async (context: BenchContext): Promise<BenchResult[]> => {
  await using resources = new AsyncDisposableStack();
  resources.use(await shareGuest());
  const results: BenchResult[] = [];
  for (const mode of MODES) results.push(...(await benchMode(mode, context)));
  return results;
};

const benchMode = async (mode: GatewayMode, { signal, progress, eachRun }: BenchContext): Promise<BenchResult[]> => {
  progress(`forward: a cluster in ${mode} gateway mode, in a guest unless this kernel has VRF and OVS's datapath`);
  await using cluster = await startForwardCluster(
    { gatewayMode: mode, batches: BATCHES, roundTrips: ROUND_TRIPS },
    signal,
  );
  progress(
    `forward: ${BATCHES} batches of packets and ${ROUND_TRIPS} round trips, ${ROUNDS} times each way in a run, in ${mode} gateway mode`,
  );
  const turns = turnsOf(cluster);
  return await eachRun(async (run) =>
    resultsOf(mode, await takeTurns({ rounds: ROUNDS, run, warmUp: 1, signal }, turns)),
  );
};

const resultsOf = (mode: GatewayMode, samples: Readonly<Record<TurnName, readonly Measurement[]>>): BenchResult[] =>
  VARIANTS.filter((variant) => variant.mode === mode).flatMap((variant) => {
    const of = (sender: Sender, quantity: Quantity): number => quantity.of(samples[`${sender}-${variant.family}`]);
    return QUANTITIES.flatMap((quantity) =>
      quantity.against.map((reference) =>
        benchResult({
          name: nameOf(reference, variant, quantity),
          value: of('udn', quantity),
          unit: 'µs',
          reference: of(reference, quantity),
          rounds: ROUNDS,
        }),
      ),
    );
  });

type TurnName = `${Sender}-${Family}`;

const turnsOf = (cluster: ForwardCluster): Record<TurnName, () => Promise<Measurement>> =>
  Object.fromEntries(
    FAMILIES.flatMap((family) =>
      SENDERS.map((sender) => [`${sender}-${family}`, () => cluster.measure(sender, family)] as const),
    ),
  ) as Record<TurnName, () => Promise<Measurement>>;

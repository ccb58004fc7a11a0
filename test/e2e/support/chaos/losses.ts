/** What was lost, by the kill that came before. Pure. Times are milliseconds since the epoch. */

export interface Kill {
  readonly kind: string;
  readonly at: number;
}

/** Datagrams that were sent at an even pace, and came back or not. */
export interface DatagramStream {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly sent: number;
  /** When those were sent that did not come back, in order. */
  readonly lost: readonly number[];
}

export interface ReadyPod {
  readonly from: number;
  readonly to: number;
}

export interface Row {
  readonly kind: string;
  readonly kills: number;
  readonly sent: number;
  readonly lost: number;
  /** Without an answer for so long, of any stream. */
  readonly longestMs: number;
  /** From a pod's creation to Ready, of those that waited while or after it was killed. Undefined: there was none. */
  readonly slowestPodMs: number | undefined;
}

/** Before the first kill, and long after one. */
export const NO_KILL = 'none';
/** What is lost so long after a kill is not its doing. */
const CAUSE_MS = 20_000;
/** An answer may be under way for so long on a machine that is busy: then it is lost with what is sent after the kill. */
const LATE_MS = 500;
/** Two losses so close belong to one outage: others in between would have come back. */
const GAP_MS = 250;

interface Span {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

/** In the order of `kinds`, without those that were not killed, and `NO_KILL` last. */
export const tally = (
  kinds: readonly string[],
  kills: readonly Kill[],
  streams: readonly DatagramStream[],
  pods: readonly ReadyPod[],
): Row[] => {
  const spans = spansOf(kills);
  const outages = streams.flatMap(({ lost }) => outagesOf(lost));
  return [...kinds, NO_KILL].flatMap((kind): Row[] => {
    const own = spans.filter((span) => span.kind === kind);
    const count = kills.filter((kill) => kill.kind === kind).length;
    if (count === 0 && kind !== NO_KILL) return [];
    const caused = outages.filter(({ from }) => own.some((span) => contains(span, from)));
    const waited = pods.filter(({ from, to }) => own.some((span) => from < span.to && to > span.from));
    return [
      {
        kind,
        kills: count,
        sent: Math.round(streams.reduce((sum, stream) => sum + sentIn(stream, own), 0)),
        lost: caused.reduce((sum, { lost }) => sum + lost, 0),
        longestMs: Math.max(0, ...caused.map(({ from, to }) => to - from)),
        slowestPodMs: waited.length === 0 ? undefined : Math.max(...waited.map(({ from, to }) => to - from)),
      },
    ];
  });
};

/** From each kill to the next one, or until it can be no cause any more. */
const spansOf = (kills: readonly Kill[]): Span[] => {
  const inOrder = kills.map(({ kind, at }) => ({ kind, at: at - LATE_MS })).sort((a, b) => a.at - b.at);
  const spans: Span[] = [{ kind: NO_KILL, from: Number.NEGATIVE_INFINITY, to: inOrder[0]?.at ?? Infinity }];
  for (const [index, { kind, at }] of inOrder.entries()) {
    const next = inOrder[index + 1]?.at ?? Infinity;
    const end = Math.min(next, at + LATE_MS + CAUSE_MS);
    spans.push({ kind, from: at, to: end });
    if (end < next) spans.push({ kind: NO_KILL, from: end, to: next });
  }
  return spans;
};

const contains = (span: Span, at: number): boolean => at >= span.from && at < span.to;

const sentIn = (stream: DatagramStream, spans: readonly Span[]): number =>
  spans.reduce((sum, span) => {
    const from = Math.max(stream.from, span.from);
    const to = Math.min(stream.to, span.to);
    return to > from ? sum + (stream.sent * (to - from)) / (stream.to - stream.from) : sum;
  }, 0);

interface Outage {
  readonly from: number;
  readonly to: number;
  readonly lost: number;
}

/** One that is still there at the next kill is the doing of the kill before it began. */
const outagesOf = (lost: readonly number[]): Outage[] => {
  const outages: Outage[] = [];
  for (const at of lost) {
    const last = outages.at(-1);
    if (last === undefined || at - last.to > GAP_MS) outages.push({ from: at, to: at, lost: 1 });
    else outages[outages.length - 1] = { from: last.from, to: at, lost: last.lost + 1 };
  }
  return outages;
};

/** Kills, and outages that are no single packets, in order: seconds since the first kill. */
export const storyOf = (kills: readonly Kill[], streams: readonly DatagramStream[]): string[] => {
  const first = Math.min(...kills.map(({ at }) => at));
  const outages = streams.flatMap(({ name, lost }) =>
    outagesOf(lost)
      .filter(({ from, to }) => to - from >= LONG_MS)
      .map(({ from, to }) => ({ at: from, text: `  ${name} for ${seconds(to - from)}` })),
  );
  return [...kills.map(({ at, kind }) => ({ at, text: `${kind} killed` })), ...outages]
    .sort((a, b) => a.at - b.at)
    .map(({ at, text }) => `${((at - first) / 1000).toFixed(2).padStart(7)} ${text}`);
};

const LONG_MS = 100;

export const formatTable = (rows: readonly Row[]): string => {
  const head = ['killed', 'kills', 'datagrams', 'lost', 'per kill', 'longest outage', 'slowest pod'];
  const body = rows.map(({ kind, kills, sent, lost, longestMs, slowestPodMs }) => [
    kind,
    String(kills),
    String(sent),
    String(lost),
    kills === 0 ? '' : (lost / kills).toFixed(1),
    seconds(longestMs),
    slowestPodMs === undefined ? '' : seconds(slowestPodMs),
  ]);
  const widths = head.map((title, column) => Math.max(title.length, ...body.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

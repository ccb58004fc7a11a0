/** How far what is shown may be believed. Pure: no news is never said to be good news. */
import type { ConsoleModel, Pulse, SourceState } from '../types.ts';

export interface Line {
  readonly text: string;
  readonly kind: 'good' | 'bad' | 'doubt';
}

interface Input {
  /** With the time of now. Undefined: none has come. */
  readonly pulse: Pulse | undefined;
  /** Why there is no stream; undefined: there is one. */
  readonly lost: string | undefined;
  readonly model: ConsoleModel | undefined;
}

export const freshnessOf = (input: Input): { readonly connection: Line; readonly summary: Line } => {
  const connection = connectionOf(input);
  return { connection, summary: summaryOf(input, connection) };
};

const connectionOf = ({ pulse, lost }: Input): Line => {
  if (lost !== undefined) {
    const since = pulse === undefined ? '' : `; what is shown is older than ${ageText(lastHeard(pulse))}`;
    return { text: `Connection lost: ${lost}${since}`, kind: 'bad' };
  }
  if (pulse === undefined) return { text: 'Connecting', kind: 'doubt' };
  const away = pulse.sources.filter(({ state }) => state === 'lost');
  const [first] = away;
  if (first !== undefined) {
    const heard =
      first.heardAt === undefined ? 'it has not answered yet' : `last heard ${ageText(pulse.now - first.heardAt)} ago`;
    return {
      text: `API server: ${away.length} of ${pulse.sources.length} watches lost (${first.resource}: ${first.message ?? 'unknown reason'}); ${heard}`,
      kind: 'bad',
    };
  }
  const loading = pulse.sources.filter(({ state }) => state === 'loading').length;
  if (loading > 0) return { text: `Reading: ${loading} of ${pulse.sources.length} kinds are missing`, kind: 'doubt' };
  return { text: `Live; API server last heard ${ageText(lastHeard(pulse))} ago`, kind: 'good' };
};

/** Milliseconds since anything came from the API server. */
const lastHeard = ({ now, sources }: Pulse): number => {
  const heard = sources.flatMap(({ heardAt }: SourceState) => heardAt ?? []);
  return heard.length === 0 ? 0 : Math.max(now - Math.max(...heard), 0);
};

const summaryOf = ({ model }: Input, connection: Line): Line => {
  if (model === undefined) return { text: 'Unknown: nothing has been read yet.', kind: 'doubt' };
  const errors = count(model, 'error');
  const warnings = count(model, 'warning');
  const known = `${errors} errors, ${warnings} warnings`;
  if (connection.kind !== 'good')
    return { text: `Unknown: the connection is lost. Before that: ${known}.`, kind: 'doubt' };
  if (errors > 0) return { text: `${known}.`, kind: 'bad' };
  if (model.notes.length > 0)
    return { text: `${known}, as far as could be read: something is not shown.`, kind: 'doubt' };
  if (warnings > 0) return { text: `${known}.`, kind: 'doubt' };
  return { text: 'No problems are reported.', kind: 'good' };
};

const count = ({ problems }: ConsoleModel, severity: 'error' | 'warning'): number =>
  problems.filter((one) => one.severity === severity).reduce((sum, one) => sum + one.count, 0);

export const ageText = (milliseconds: number): string => {
  const seconds = Math.max(Math.floor(milliseconds / 1_000), 0);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3_600)} h`;
};

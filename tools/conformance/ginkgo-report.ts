/** A report of ginkgo (`--json-report`) as results of specs. Pure. */
import { z } from 'zod';

/** Interrupted: at the end of the time that specs have, or by a signal. */
export type Outcome = 'passed' | 'failed' | 'interrupted' | 'skipped' | 'not run';

export interface SpecResult {
  /** As ginkgo's `--focus` sees it. */
  readonly name: string;
  readonly outcome: Outcome;
  /** Of a spec that failed, or that skipped itself. */
  readonly message: string;
  readonly attempts: number;
  readonly seconds: number;
}

export interface SuiteReport {
  readonly specs: readonly SpecResult[];
  readonly seconds: number;
  /** Why the suite itself failed, for example in its preparation, or as its time was over. */
  readonly failures: readonly string[];
}

const NANOSECONDS = 1e9;

/** ginkgo writes `null` for lists without members. */
const texts = z
  .array(z.string())
  .nullish()
  .transform((list) => list ?? []);

const specSchema = z.object({
  ContainerHierarchyTexts: texts,
  LeafNodeType: z.string(),
  LeafNodeText: z.string(),
  State: z.string(),
  RunTime: z.number(),
  NumAttempts: z.number(),
  Failure: z.object({ Message: z.string() }).optional(),
});

const reportSchema = z.tuple([
  z.object({ SpecialSuiteFailureReasons: texts, RunTime: z.number(), SpecReports: z.array(specSchema).nullable() }),
]);

/** @param text of a report about one suite @throws Error when it is none */
export const parseReport = (text: string): SuiteReport => {
  const [{ SpecialSuiteFailureReasons: reasons, RunTime, SpecReports }] = reportSchema.parse(JSON.parse(text));
  const reports = SpecReports ?? [];
  const nodes = reports.filter(({ LeafNodeType, State }) => LeafNodeType !== 'It' && isFailure(State));
  return {
    specs: reports.filter(({ LeafNodeType }) => LeafNodeType === 'It').map(resultOf),
    seconds: RunTime / NANOSECONDS,
    failures: [...reasons, ...nodes.map((node) => `${node.LeafNodeType}: ${node.Failure?.Message ?? node.State}`)],
  };
};

const resultOf = (spec: z.output<typeof specSchema>): SpecResult => ({
  name: [...spec.ContainerHierarchyTexts, spec.LeafNodeText].join(' '),
  outcome: outcomeOf(spec),
  message: spec.Failure?.Message ?? '',
  attempts: spec.NumAttempts,
  seconds: spec.RunTime / NANOSECONDS,
});

/** What no filter lets run is `skipped` to ginkgo, too, but says nothing. */
const outcomeOf = ({ State, Failure }: z.output<typeof specSchema>): Outcome => {
  if (State === 'passed') return 'passed';
  if (State === 'skipped') return Failure?.Message ? 'skipped' : 'not run';
  if (INTERRUPTIONS.includes(State)) return 'interrupted';
  return isFailure(State) ? 'failed' : 'not run';
};

/** `types.SpecStateFailureStates` of ginkgo. */
const INTERRUPTIONS = ['aborted', 'interrupted', 'timedout'];
const FAILURES = ['failed', 'panicked', ...INTERRUPTIONS];
const isFailure = (state: string): boolean => FAILURES.includes(state);

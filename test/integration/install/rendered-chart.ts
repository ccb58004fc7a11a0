/** What the chart renders, without a cluster. */
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import type { ProgramResult } from '../../conformance/kube/program.ts';
import { CHART, createHelm } from './helm.ts';

const objectSchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    annotations: z.record(z.string(), z.string()).optional(),
  }),
});
export type Manifest = z.output<typeof objectSchema>;

export interface ChartRenderer {
  /** Also when the chart refuses its values. */
  readonly render: (...args: string[]) => Promise<ProgramResult>;
  readonly rendered: (...args: string[]) => Promise<Manifest[]>;
  readonly lint: () => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Minutes where Helm is not built yet. */
export const createChartRenderer = async (): Promise<ChartRenderer> => {
  const helm = await createHelm();
  const render = (...args: string[]): Promise<ProgramResult> =>
    helm.attempt('template', 'udn', CHART, '--namespace', 'ovn-udn', '--kube-version', 'v1.36.0', ...args);
  return {
    render,
    rendered: async (...args) => {
      const { code, stdout, stderr } = await render(...args);
      if (code !== 0) throw new Error(stderr);
      return objectsOf(stdout);
    },
    lint: () => helm.run('lint', '--strict', CHART),
    close: () => helm.close(),
  };
};

export const objectsOf = (text: string): Manifest[] =>
  parseAllDocuments(text)
    .map((document) => document.toJS() as unknown)
    .filter((value) => value !== null)
    .map((value) => objectSchema.parse(value));

export const textOf = (objects: readonly Manifest[], kind: string): string =>
  JSON.stringify(objects.filter((object) => object.kind === kind));

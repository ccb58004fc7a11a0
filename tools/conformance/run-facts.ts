/** What the page says of a run: when, of what, and where. */
import { z } from 'zod';

export const factsSchema = z.object({
  /** Of Kubernetes. */
  version: z.string(),
  /** Of this repository. */
  commit: z.string(),
  /** ISO 8601. */
  started: z.string(),
  nodes: z.number(),
  kernel: z.string(),
  datapath: z.string(),
  processors: z.number(),
  /** How many specs at once. */
  processes: z.number(),
});

export type RunFacts = z.output<typeof factsSchema>;

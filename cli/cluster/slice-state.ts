/** What is kept of an EndpointSlice: what an agent keeps of it. */
import { z } from 'zod';
import { projectSlice } from '../../agent/inputs/slice-projection.ts';
import type { SliceFact } from '../../agent/model/facts.ts';
import { ApiError, describeFinding } from '../../api/errors.ts';
import { SLICE_LABELS } from '../../api/names.ts';

export interface SliceState {
  /** `namespace/name` of its Service. */
  readonly service: string;
  /** Undefined: it cannot be read, and counts for nobody. */
  readonly fact: SliceFact | undefined;
  /** What of it cannot be used, and why; each names the slice. */
  readonly problems: readonly string[];
}

/** None for a slice of no Service, and of one that nothing is programmed for. @throws ApiError when the owner is unknown */
export const sliceState = (object: unknown): readonly SliceState[] => {
  try {
    const projection = projectSlice(object);
    if (projection === undefined) return [];
    const { service, fact, problems } = projection;
    return [{ service, fact, problems: problems.map((one) => `${one.object}: ${one.message}`) }];
  } catch (error) {
    const known = labelledSchema.safeParse(object).data?.metadata;
    const service = known?.labels[SLICE_LABELS.mirroredService] ?? known?.labels[SLICE_LABELS.service];
    if (!(error instanceof ApiError) || known === undefined || !service) throw error;
    const problem = `EndpointSlice/${known.namespace}/${known.name} cannot be read: ${describeFinding(error)}`;
    return [{ service: `${known.namespace}/${service}`, fact: undefined, problems: [problem] }];
  }
};

const labelledSchema = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string(), labels: z.record(z.string(), z.string()) }),
});

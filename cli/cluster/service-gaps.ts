/** What a Service asks for and nobody programs yet: of the list at the end of docs/services.md what one Service shows. */
import { z } from 'zod';

export const notProgrammed = (object: unknown): readonly string[] => {
  const { annotations } = askedSchema.parse(object).metadata;
  return annotations?.[IDLED] === undefined ? [] : ['waiting to be unidled: its workload is scaled to zero'];
};

const IDLED = 'k8s.ovn.org/idled-at';

/** Gaps of other kinds are not reported here; whether the Service can be read is reported elsewhere. */
const askedSchema = z.object({
  metadata: z
    .object({ annotations: z.record(z.string(), z.string()).nullish().catch(undefined) })
    .catch({ annotations: undefined }),
});

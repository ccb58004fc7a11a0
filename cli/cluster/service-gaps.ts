/** What a Service asks for and nobody programs yet: the list at the end of docs/services.md, for one Service. */
import { z } from 'zod';

export const notProgrammed = (object: unknown): readonly string[] => {
  const { metadata, spec } = askedSchema.parse(object);
  return [
    ...(isSet(spec.healthCheckNodePort) ? [`health check on port ${spec.healthCheckNodePort}`] : []),
    ...(metadata.annotations?.[IDLED] === undefined ? [] : ['waking it up: it has been idled']),
  ];
};

const isSet = (port: number | null | undefined): port is number => port != null && port > 0;

const IDLED = 'k8s.ovn.org/idled-at';

/** What is none of its kind is nothing to be told about here: whether the Service can be read is told elsewhere. */
const port = z.number().nullish().catch(undefined);

const askedSchema = z.object({
  metadata: z
    .object({ annotations: z.record(z.string(), z.string()).nullish().catch(undefined) })
    .catch({ annotations: undefined }),
  spec: z
    .object({
      healthCheckNodePort: port,
    })
    .partial()
    .catch({}),
});

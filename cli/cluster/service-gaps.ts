/** What a Service asks for and nobody programs yet: the list at the end of docs/services.md, for one Service. */
import { z } from 'zod';

export const notProgrammed = (object: unknown): readonly string[] => {
  const { metadata, spec, status } = askedSchema.parse(object);
  const ingress = status.loadBalancer?.ingress ?? [];
  return [
    ...(spec.ports ?? []).flatMap(({ nodePort, protocol }) =>
      isSet(nodePort) ? [`node port ${nodePort}/${protocol ?? 'TCP'}`] : [],
    ),
    ...(spec.externalIPs ?? []).map((ip) => `external address ${ip}`),
    // With `Proxy`, packets come to node ports.
    ...ingress.flatMap(({ ip, ipMode }) => (ip && ipMode !== 'Proxy' ? [`load-balancer address ${ip}`] : [])),
    ...(spec.externalTrafficPolicy === 'Local' ? ['externalTrafficPolicy Local'] : []),
    ...(isSet(spec.healthCheckNodePort) ? [`health check on port ${spec.healthCheckNodePort}`] : []),
    ...(metadata.annotations?.[IDLED] === undefined ? [] : ['waking it up: it has been idled']),
  ];
};

const isSet = (port: number | null | undefined): port is number => port != null && port > 0;

const IDLED = 'k8s.ovn.org/idled-at';

/** What is none of its kind is nothing to be told about here: whether the Service can be read is told elsewhere. */
const text = z.string().nullish().catch(undefined);
const port = z.number().nullish().catch(undefined);

const askedSchema = z.object({
  metadata: z
    .object({ annotations: z.record(z.string(), z.string()).nullish().catch(undefined) })
    .catch({ annotations: undefined }),
  spec: z
    .object({
      ports: z
        .array(z.object({ nodePort: port, protocol: text }))
        .nullish()
        .catch(undefined),
      externalIPs: z.array(z.string()).nullish().catch(undefined),
      externalTrafficPolicy: text,
      healthCheckNodePort: port,
    })
    .partial()
    .catch({}),
  status: z
    .object({
      loadBalancer: z.object({ ingress: z.array(z.object({ ip: text, ipMode: text })).nullish() }).nullish(),
    })
    .partial()
    .catch({}),
});

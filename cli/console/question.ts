/** What the page may ask a node, and the command of udnctl that answers. Pure: nothing but these commands, none of which changes anything. */
import { z } from 'zod';

/** RFC 1123 subdomains, as names of pods, Services and nodes are: none begins with a hyphen, so that none passes for an option. */
const NAME = '[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?';
const node = z.string().regex(new RegExp(`^${NAME}$`));
const key = z.string().regex(new RegExp(`^${NAME}/${NAME}$`));
/** An address, a pod, or a Service with a port. */
const destination = z
  .string()
  .regex(new RegExp(`^(?:[0-9A-Fa-f.:]{2,45}|${NAME}/${NAME}|service/${NAME}/${NAME}(?::[0-9]{1,5})?)$`));
/** As udnctl has it: `red_net`, `red/net`. */
const network = z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9._/-]{0,253}$/);

const questionSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('trace'),
    from: key,
    to: destination,
    port: z.int().min(1).max(65_535).optional(),
    protocol: z.enum(['tcp', 'udp', 'sctp', 'icmp']).optional(),
  }),
  z.strictObject({ kind: z.literal('explain-pod'), pod: key }),
  z.strictObject({ kind: z.literal('explain-service'), service: key, node }),
  z.strictObject({ kind: z.literal('explain-network'), network, node }),
  z.strictObject({ kind: z.enum(['problems', 'status']), node }),
]);
export type Question = z.output<typeof questionSchema>;

/** Undefined: it is none. */
export const questionOf = (body: unknown): Question | undefined => questionSchema.safeParse(body).data;

/** Where it is asked. */
export const targetOf = (question: Question): { readonly pod: string } | { readonly node: string } => {
  switch (question.kind) {
    case 'trace':
      return { pod: question.from };
    case 'explain-pod':
      return { pod: question.pod };
    default:
      return { node: question.node };
  }
};

/** The command and its arguments, without udnctl itself: an option and its value in one word. */
export const wordsOf = (question: Question): readonly string[] => {
  switch (question.kind) {
    case 'trace':
      return [
        ...['trace', '--from=pod', `--from=${question.from}`, `--to=${question.to}`],
        ...(question.port === undefined ? [] : [`--port=${question.port}`]),
        ...(question.protocol === undefined ? [] : [`--proto=${question.protocol}`]),
      ];
    case 'explain-pod':
      return ['explain', '--', 'pod', question.pod];
    case 'explain-service':
      return ['explain', '--', 'service', question.service];
    case 'explain-network':
      return ['explain', '--', 'network', question.network];
    default:
      return [question.kind];
  }
};

/** Every pod of a world tries every other one: what is to answer. */
import { evaluate } from './evaluator.ts';
import type { Expected } from './expected.ts';
import type { PolicyProtocol, World } from './types.ts';

/** Of every pair of pods, at each address of the receiver. Nobody asks itself: what a pod may do there no policy says. */
export const expectedOf = (world: World, protocols: readonly PolicyProtocol[], ports: readonly number[]): Expected[] =>
  world.pods.flatMap((from) =>
    world.pods
      .filter((to) => to !== from)
      .flatMap((to) =>
        to.addresses.flatMap((address) =>
          protocols.flatMap((protocol) =>
            ports.map((port): Expected => {
              const attempt = { from, to, address, protocol, port };
              const { allowed, egress, ingress } = evaluate(world, attempt);
              const key = `${to.namespace}/${to.name}`;
              return {
                ...attempt,
                answeredBy: allowed ? key : undefined,
                why: `${key}: egress ${egress}, ingress ${ingress}`,
              };
            }),
          ),
        ),
      ),
  );

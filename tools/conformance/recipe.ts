/** Which programs `make conformance` builds, of what, and under which name they are kept. Pure. */
import { createHash } from 'node:crypto';
import { type Recipe, type RecipeInput, recipeOf } from '../../sandbox/kubernetes/recipe.ts';

/** By the name of the program, its Go package. ginkgo takes only a suite whose name ends with `.test`. */
export const PACKAGES = {
  'e2e.test': './e2e',
  ginkgo: 'github.com/onsi/ginkgo/v2/ginkgo',
  agnhost: 'k8s.io/kubernetes/test/images/agnhost',
  'regression-issue-74839': 'k8s.io/kubernetes/test/images/regression-issue-74839',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
} as const;

export type ConformanceProgram = keyof typeof PACKAGES;

/** @param sources of the suite @throws SandboxError ERR_SANDBOX_MACHINE when go.mod does not name the versions */
export const conformanceRecipe = ({
  sources,
  ...input
}: RecipeInput & { readonly sources: readonly string[] }): Recipe => {
  const { version, toolchain, key } = recipeOf(input);
  const digest = createHash('sha256')
    .update(JSON.stringify([key, sources]))
    .digest('hex');
  return { version, toolchain, key: `conformance-${version}-${digest.slice(0, 12)}` };
};

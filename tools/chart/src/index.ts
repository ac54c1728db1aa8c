export {
  COMBINATIONS,
  type Combination,
  exampleFile,
  type KubernetesObject,
  type Labels,
  parseObjects,
  RENDERED,
  renderedFile,
  renderObjects,
  renderText,
  repository,
  runHelm,
} from './chart.ts'

import type TypeBox from 'typebox'

type Used = 'Array' | 'Boolean' | 'Enum' | 'Integer' | 'Literal' | 'Object' | 'Optional' | 'String' | 'Unsafe'

const optional = new WeakSet<object>()

/**
 * TypeBox's builders, as far as they are used here. Its own bring three hundred files with them, and took a quarter of a
 * start and a third of a command; its types, which know what a schema lets through, cost nothing.
 */
export const Type = {
  Array: (items: object, options?: object) => ({ type: 'array', items, ...options }),
  Boolean: (options?: object) => ({ type: 'boolean', ...options }),
  Enum: (values: readonly unknown[], options?: object) => ({ enum: values, ...options }),
  Integer: (options?: object) => ({ type: 'integer', ...options }),
  Literal: (value: unknown, options?: object) => ({ type: typeof value, const: value, ...options }),
  Object: (properties: Record<string, object>, options?: object) => {
    const required = Object.keys(properties).filter((name) => !optional.has(properties[name] ?? {}))
    return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
  },
  Optional: (schema: object) => {
    const marked = { ...schema }
    optional.add(marked)
    return marked
  },
  String: (options?: object) => ({ type: 'string', ...options }),
  Unsafe: (schema: object) => schema,
} as unknown as Pick<typeof TypeBox, Used>

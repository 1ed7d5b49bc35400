# SPDX-License-Identifier: MIT
# Holds each input against the JSON schema in $schema (--slurpfile): as much of
# the language as our schemas use. Prints every place that does not fit, and
# complains of keywords that it does not know.
def known: ["$schema", "$defs", "$ref", "title", "description", "type",
	"const", "enum", "required", "properties", "additionalProperties",
	"items", "pattern", "minimum", "maximum", "anyOf"];

# A parameter named $type would hide the function type.
def is($wanted):
	if $wanted == "integer" then type == "number" and . == floor
	else type == $wanted end;

def faults($root; $s; $at):
	. as $v
	| if ($s | type) == "boolean" then
		if $s then empty else "\($at): not allowed" end
	else
		(($s | keys) - known | .[] | "\($at): unknown keyword \(.)"),
		(if $s["$ref"] then
			($s["$ref"] | ltrimstr("#/") | split("/")) as $p
			| ($root | getpath($p)) as $to
			| if $to == null then "\($at): no \($s["$ref"])"
			else faults($root; $to; $at) end
		else empty end),
		(if $s.type and (any([$s.type] | flatten | .[];
				. as $t | $v | is($t)) | not)
		then "\($at): is no \($s.type | tojson)" else empty end),
		(if ($s | has("const")) and $v != $s.const
		then "\($at): is not \($s.const)" else empty end),
		(if $s.enum and ($s.enum | index([$v]) | not)
		then "\($at): \($v | tojson) is not in the list"
		else empty end),
		(if $s.pattern and ($v | type) == "string"
			and ($v | test($s.pattern) | not)
		then "\($at): \($v) does not match" else empty end),
		(if $s.minimum and ($v | type) == "number" and $v < $s.minimum
		then "\($at): too small" else empty end),
		(if $s.maximum and ($v | type) == "number" and $v > $s.maximum
		then "\($at): too large" else empty end),
		(if $s.anyOf and (any($s.anyOf[];
			. as $one | [$v | faults($root; $one; $at)] == []) | not)
		then "\($at): fits none of anyOf, not even: "
			+ ([$v | faults($root; $s.anyOf[-1]; $at)] | join("; "))
		else empty end),
		(if ($v | type) == "array" and $s.items then
			range($v | length) as $i
			| $v[$i] | faults($root; $s.items; "\($at)[\($i)]")
		else empty end),
		(if ($v | type) == "object" then
			(($s.required // []) - ($v | keys) | .[]
				| "\($at): lacks \(.)"),
			($v | keys[] as $k
				| (if ($s.properties // {}) | has($k)
				then $s.properties[$k]
				elif $s | has("additionalProperties")
				then $s.additionalProperties
				else true end) as $sub
				| .[$k] | faults($root; $sub; "\($at).\($k)"))
		else empty end)
	end;

$schema[0] as $root | faults($root; $root; "")

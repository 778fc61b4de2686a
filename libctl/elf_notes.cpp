// SPDX-License-Identifier: LGPL-2.1-or-later
#include "elf_notes.h"

#include <bit>
#include <cstring>
#include <elf.h>
#include <optional>

namespace nofctl {

namespace {

constexpr unsigned char ourData = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

// Nothing if the object does not fit into @bytes.
template <typename T> std::optional<T> objectAt(std::span<const char> bytes, std::uint64_t offset)
{
	if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
		return std::nullopt;
	T object;
	std::memcpy(&object, bytes.data() + offset, sizeof(object));
	return object;
}

std::span<const char> part(std::span<const char> bytes, std::uint64_t offset, std::uint64_t length)
{
	if (offset > bytes.size() || bytes.size() - offset < length)
		return {};
	return bytes.subspan(offset, length);
}

std::optional<Elf64_Shdr> header(std::span<const char> file, const Elf64_Ehdr &elf, unsigned index)
{
	// this bound prevents an overflow of the sum below
	if (elf.e_shentsize != sizeof(Elf64_Shdr) || elf.e_shoff > file.size())
		return std::nullopt;
	return objectAt<Elf64_Shdr>(file, elf.e_shoff + std::uint64_t(index) * sizeof(Elf64_Shdr));
}

bool hasName(std::span<const char> names, std::uint64_t offset, std::string_view name)
{
	std::span<const char> text = part(names, offset, name.size() + 1); // with the terminating NUL
	return !text.empty() && std::string_view(text.data(), name.size()) == name && text.back() == '\0';
}

constexpr std::uint64_t aligned(std::uint64_t size)
{
	return (size + 3) & ~std::uint64_t(3);
}

} // namespace

std::span<const char> sectionOf(std::span<const char> file, std::string_view name)
{
	std::optional<Elf64_Ehdr> elf = objectAt<Elf64_Ehdr>(file, 0);
	if (!elf || std::memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf->e_ident[EI_DATA] != ourData)
		return {};
	std::optional<Elf64_Shdr> strings = header(file, *elf, elf->e_shstrndx);
	if (!strings)
		return {};
	std::span<const char> names = part(file, strings->sh_offset, strings->sh_size);
	for (unsigned i = 0; i < elf->e_shnum; i++) {
		std::optional<Elf64_Shdr> section = header(file, *elf, i);
		if (section && hasName(names, section->sh_name, name))
			return part(file, section->sh_offset, section->sh_size);
	}
	return {};
}

std::string noteIn(std::span<const char> notes, std::string_view owner, unsigned type)
{
	for (std::uint64_t at = 0; std::optional<Elf64_Nhdr> note = objectAt<Elf64_Nhdr>(notes, at);) {
		std::uint64_t name = at + sizeof(*note), desc = name + aligned(note->n_namesz);
		std::span<const char> bytes = part(notes, desc, note->n_descsz);
		if (note->n_type == type && note->n_namesz == owner.size() + 1 && hasName(notes, name, owner))
			return {bytes.begin(), bytes.end()};
		at = desc + aligned(note->n_descsz);
	}
	return {};
}

} // namespace nofctl
